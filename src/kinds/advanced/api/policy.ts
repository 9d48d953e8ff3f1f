import {
  count,
  createReader,
  fromLabelSelector,
  type IntOrPercent,
  misspelledKeys,
  type ParsedPolicy,
  type Policy,
  type PolicyError,
  type PolicyWords,
  parseIntOrPercent,
  readRecreate,
  readStrategy,
  readTerms,
  selectsNodes,
  validatedPolicy,
} from '../../../rollout/index.ts';
import { alias, annotation } from '../../../words/index.ts';
import { type AdvancedDaemonSetSpec, type IntOrPercentValue, MAX_NAME_LENGTH, type RollingUpdate } from './types.ts';

export const IN_PLACE_GRACE = 'apps.kruise.io/inplace-update-grace';

/** Parses seconds to milliseconds. Undefined if absent or not an integer; the latter is a policy error. */
export const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,7}$/.test(text.trim()) ? Number(text) * 1000 : undefined;

/** Path of a rolling update field, for errors and messages. */
export const rollingField = (field: keyof RollingUpdate): string => `spec.updateStrategy.rollingUpdate.${field}`;

/** The fields that stand in place of annotations of native DaemonSets. */
export const fieldInsteadOf: Readonly<Record<string, string>> = {
  [annotation.maxUnavailable]: rollingField('maxUnavailable'),
  [alias.maxUnavailable]: rollingField('maxUnavailable'),
  [annotation.partition]: rollingField('partition'),
  [annotation.nodeSelector]: rollingField('selector'),
  [annotation.paused]: rollingField('paused'),
};

const words: Omit<PolicyWords, 'daemonSet'> = {
  maxUnavailable: rollingField('maxUnavailable'),
  partition: rollingField('partition'),
  nodeSelector: rollingField('selector'),
  automate: 'To update the nodes from here, set spec.updateStrategy.type to RollingUpdate.',
  podController: 'manager',
  podControllerProgram: 'edgeset-manager',
};

/** A surge is limited by maxSurge instead of maxUnavailable. */
const surgingWords: typeof words = { ...words, maxUnavailable: rollingField('maxSurge') };

/** With OnDelete, removing the annotation is not enough. */
const automateFor = (field: string, type: string): string =>
  `To update the nodes from here, remove the annotation ${field}${type === 'OnDelete' ? ', and set spec.updateStrategy.type to RollingUpdate' : ''}.`;

/** Applies the defaults. Those of maxUnavailable and maxSurge depend on other fields, so the schema can't set them. */
export const effective = ({ rollingUpdateType = 'Standard', ...limits }: RollingUpdate) => {
  const surging = rollingUpdateType === 'Surging';
  const maxSurge = limits.maxSurge ?? (surging ? 1 : 0);
  return {
    rollingUpdateType,
    maxSurge,
    maxUnavailable: limits.maxUnavailable ?? (surging || limits.maxSurge !== undefined ? 0 : 1),
  };
};

/** The schema refuses it, but objects may be older than the schema. Nothing is done for such a DaemonSet. */
export const isNameTooLong = (name: string): boolean => name.length > MAX_NAME_LENGTH;

/**
 * Parses the rollout policy of an Advanced DaemonSet from its spec and from the annotations shared by all kinds. The schema
 * refuses most invalid policies; this also validates objects that are older than the schema.
 */
export const parseAdvancedPolicy = (
  spec: AdvancedDaemonSetSpec,
  annotations: Readonly<Record<string, string>>,
  name = 'NAME',
): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const errors: PolicyError[] = [];
  const warnings: PolicyError[] = [];
  if (isNameTooLong(name))
    errors.push({
      field: 'metadata.name',
      value: name,
      problem: `has more than ${MAX_NAME_LENGTH} characters, so that its DaemonRollout can't be named after it`,
      remedy: 'delete the DaemonSet with --cascade=orphan, and create it again with a shorter name',
    });
  const refuse = (field: keyof RollingUpdate, value: unknown, problem: string, remedy: string): void =>
    void errors.push({ field: rollingField(field), value: String(value), problem, remedy });

  const readLimit = (field: 'maxUnavailable' | 'maxSurge' | 'partition', value: IntOrPercentValue): IntOrPercent => {
    const read = parseIntOrPercent(String(value));
    if (read && !(read.kind === 'percent' && read.value > 100)) return read;
    refuse(field, value, 'is neither an integer nor a percentage up to 100%', 'set one, such as 3 or "10%"');
    return count(0);
  };
  const { type = 'RollingUpdate', rollingUpdate = {} } = spec.updateStrategy ?? {};
  const defaulted = effective(rollingUpdate);
  const maxUnavailable = readLimit('maxUnavailable', defaulted.maxUnavailable);
  const maxSurge = readLimit('maxSurge', defaulted.maxSurge);
  if (maxSurge.value > 0 && maxUnavailable.value > 0)
    refuse('maxSurge', defaulted.maxSurge, 'cannot be combined with maxUnavailable', 'set one of the two to 0');
  const nodeSelector = rollingUpdate.selector && selectsNodes(fromLabelSelector(rollingUpdate.selector));
  if (nodeSelector && !nodeSelector.ok)
    refuse('selector', JSON.stringify(rollingUpdate.selector), nodeSelector.problem, nodeSelector.remedy);

  for (const field of [annotation.preDeleteTimeoutSeconds, IN_PLACE_GRACE]) {
    const value = annotations[field];
    if (value !== undefined && secondsOf(value) === undefined)
      errors.push({
        field,
        value,
        problem: 'is not a number of seconds',
        remedy: 'set an integer, or remove the annotation',
      });
  }

  errors.push(...misspelledKeys(annotations, fieldInsteadOf));
  for (const [field, instead] of Object.entries(fieldInsteadOf)) {
    const value = annotations[field];
    if (value === undefined) continue;
    const problem = 'has no effect on an Advanced DaemonSet';
    warnings.push({ field, value, problem, remedy: `remove it, and set ${instead}` });
  }
  const chosen = readStrategy(annotations, errors, warnings);
  const readAnnotation = createReader(annotations, errors);
  const owners = chosen?.value === 'ota';
  const policy: Policy = {
    strategy: owners ? 'ota' : type === 'OnDelete' ? 'manual' : 'auto',
    // Approved updates keep to the budget, the preDelete hook and in-place updates.
    byApproval: owners,
    maxUnavailable,
    maxSurge,
    percentOf: 'desired',
    inPlace: defaulted.rollingUpdateType === 'InPlaceIfPossible',
    partition: readLimit('partition', rollingUpdate.partition ?? 0),
    nodeSelector: nodeSelector?.ok === true ? nodeSelector.selector : undefined,
    paused: rollingUpdate.paused ?? false,
    // A value that cannot be read lets no new revision through.
    recreate: readAnnotation(
      annotation.recreate,
      readRecreate,
      annotations[annotation.recreate] === undefined ? 'newest' : 'held-revision',
    ),
    plan: undefined,
    minReadyMs: (spec.minReadySeconds ?? 0) * 1000,
    ...readTerms(annotations, errors),
    words: {
      ...(maxSurge.value > 0 ? surgingWords : words),
      ...(owners && { automate: automateFor(chosen.field, type) }),
    },
  };
  return validatedPolicy(policy, errors, warnings);
};
