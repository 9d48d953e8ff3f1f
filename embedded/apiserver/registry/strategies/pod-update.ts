import { forbiddenField, invalidValue, requiredField, type StatusCause, validateItems } from '../../errors.ts';
import { arrayOf, at, equal, type Json, mapItems, recordOf, textOf, without } from '../../json.ts';
import { validatePodSpec, validateTolerations } from './pod-validation.ts';

// The spec without the fields that an update may change.
const frozenPart = (spec: Json): Json => {
  const image = (container: Json): Json => without(container, 'image');
  const bare = without(spec, 'activeDeadlineSeconds', 'tolerations', 'schedulingGates');
  return mapItems(mapItems(bare, 'containers', image), 'initContainers', image);
};

const MAY_CHANGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const LISTS = ['containers', 'initContainers'];

const countChanged = (spec: Json, old: Json, list: string): boolean =>
  arrayOf(spec[list]).length !== arrayOf(old[list]).length;

const imageCauses = (spec: Json, list: string): StatusCause[] =>
  validateItems(spec, list, 'spec', (container, here) => {
    const image = textOf(container.image);
    const field = `${here}.image`;
    if (image === '') return [requiredField(field)];
    return image.trim() === image ? [] : [invalidValue(field, image, 'must not have leading or trailing whitespace')];
  });

const MOST_SECONDS = 2_147_483_647;

/** It can be set and lowered. */
const deadlineError = (now: unknown, before: unknown): string | undefined => {
  if (now === undefined)
    return before === undefined ? undefined : 'must not update from a positive integer to nil value';
  const value = Number(now);
  if (value < 0 || value > MOST_SECONDS) return `must be between 0 and ${MOST_SECONDS}, inclusive`;
  return before !== undefined && Number(before) < value ? 'must be less than or equal to previous value' : undefined;
};

const tolerationChanges = (spec: Json, old: Json): StatusCause[] => {
  const bare = (toleration: unknown): Json => without(recordOf(toleration), 'tolerationSeconds');
  const now = arrayOf(spec.tolerations);
  const kept = arrayOf(old.tolerations).every((each) => now.some((other) => equal(bare(each), bare(other))));
  return kept
    ? validateTolerations(spec, 'spec')
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
};

const newGates = (spec: Json, old: Json): StatusCause[] => {
  const before = new Set(arrayOf(old.schedulingGates).map((each) => at(each, 'name')));
  return validateItems(spec, 'schedulingGates', 'spec', (gate, here) => {
    const name = textOf(gate.name);
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return before.has(name) ? [] : [forbiddenField(`${here}.name`, why)];
  });
};

/** Validates a pod update; errors are in the real server's order. */
export const validatePodUpdate = (spec: Json, old: Json): StatusCause[] => {
  const causes = validatePodSpec(spec, 'spec', true);
  for (const list of LISTS) {
    if (countChanged(spec, old, list))
      return [...causes, forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    causes.push(...imageCauses(spec, list));
  }
  const { activeDeadlineSeconds: deadline } = spec;
  const detail = deadlineError(deadline, old.activeDeadlineSeconds);
  if (detail !== undefined) {
    causes.push(invalidValue('spec.activeDeadlineSeconds', deadline, detail));
    if (deadline !== undefined) return causes;
  }
  causes.push(...tolerationChanges(spec, old), ...newGates(spec, old));
  return equal(frozenPart(spec), frozenPart(old)) ? causes : [...causes, forbiddenField('spec', MAY_CHANGE)];
};

const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

const isTerminated = (status: unknown): boolean => at(status, 'state', 'terminated') !== undefined;

const revived = (pod: Json, previous: Json, list: string): StatusCause[] => {
  const policy = at(pod, 'spec', 'restartPolicy');
  if (policy === 'Always') return [];
  const sidecars = new Set(
    arrayOf(at(pod, 'spec', 'initContainers')).flatMap((each) =>
      at(each, 'restartPolicy') === 'Always' ? [at(each, 'name')] : [],
    ),
  );
  return arrayOf(at(previous, 'status', list)).flatMap((before, index) => {
    const name = at(before, 'name');
    const mayRestart = policy === 'OnFailure' && at(before, 'state', 'terminated', 'exitCode') !== 0;
    if (!isTerminated(before) || mayRestart || sidecars.has(name)) return [];
    const now = arrayOf(at(pod, 'status', list)).find((each) => at(each, 'name') === name);
    if (now === undefined || isTerminated(now)) return [];
    return [forbiddenField(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
};

/** Validates a pod status update; `nameErrorsOf` checks condition types. */
export const validatePodStatusUpdate = (
  pod: Json,
  previous: Json,
  nameErrorsOf: (name: string) => string[],
): StatusCause[] => {
  const causes = arrayOf(at(pod, 'status', 'conditions')).flatMap((condition, index) => {
    const type = textOf(at(condition, 'type'));
    if (SYSTEM_CONDITIONS.includes(type)) return [];
    return nameErrorsOf(type).map((detail) => invalidValue(`status.conditions[${index}].Type`, type, detail));
  });
  const qos = at(pod, 'status', 'qosClass');
  if (qos !== at(previous, 'status', 'qosClass'))
    causes.push(invalidValue('status.qosClass', qos, 'field is immutable'));
  return [...causes, ...['containerStatuses', 'initContainerStatuses'].flatMap((list) => revived(pod, previous, list))];
};
