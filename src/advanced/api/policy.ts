import {
  count,
  fromLabelSelector,
  type IntOrPercent,
  type ParsedPolicy,
  type Policy,
  type PolicyError,
  type PolicyWords,
  parseIntOrPercent,
  readStrategy,
  readTerms,
  validatedPolicy,
} from '../../rollout/index.ts';
import type { AdvancedDaemonSetSpec, IntOrPercentValue, RollingUpdate } from './types.ts';

export const PREDELETE_TIMEOUT = 'edgeset.io/predelete-timeout-seconds';
export const IN_PLACE_GRACE = 'apps.kruise.io/inplace-update-grace';

/** Milliseconds; undefined where nothing is said, and for what is no whole number of seconds: that is a policy error. */
export const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,7}$/.test(text.trim()) ? Number(text) * 1000 : undefined;

/** A field of rolling updates, as errors and sentences name it. */
export const rollingField = (field: keyof RollingUpdate): string => `spec.updateStrategy.rollingUpdate.${field}`;

const words: PolicyWords = {
  maxUnavailable: rollingField('maxUnavailable'),
  partition: rollingField('partition'),
  nodeSelector: rollingField('selector'),
  unpause: `Set ${rollingField('paused')} to false.`,
  automate: 'To update the nodes from here, set spec.updateStrategy.type to RollingUpdate.',
  podController: 'manager',
  podControllerProgram: 'edgeset-manager',
};

/** Where new pods come beside old ones, another field says how many. */
const surgingWords: PolicyWords = { ...words, maxUnavailable: rollingField('maxSurge') };

/** Owners decide because of the annotation, and nobody does where the type is OnDelete. */
const automateFor = (field: string, type: string): string =>
  `To update the nodes from here, remove the annotation ${field}${type === 'OnDelete' ? ', and set spec.updateStrategy.type to RollingUpdate' : ''}.`;

/** What stands in the place of what is not said; two of the fields depend on others. */
export const effective = ({ rollingUpdateType = 'Standard', ...said }: RollingUpdate) => {
  const surging = rollingUpdateType === 'Surging';
  const maxSurge = said.maxSurge ?? (surging ? 1 : 0);
  return {
    rollingUpdateType,
    maxSurge,
    maxUnavailable: said.maxUnavailable ?? (surging || said.maxSurge !== undefined ? 0 : 1),
  };
};

/**
 * Reads the rollout policy of an Advanced DaemonSet: its spec, and the annotations that every kind has. The schema refuses
 * most of what cannot be acted on; objects from before it was installed are judged here as well.
 */
export const parseAdvancedPolicy = (
  spec: AdvancedDaemonSetSpec,
  annotations: Readonly<Record<string, string>>,
): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const errors: PolicyError[] = [];
  const warnings: PolicyError[] = [];
  const refuse = (field: keyof RollingUpdate, value: unknown, problem: string, cure: string): void =>
    void errors.push({ field: rollingField(field), value: String(value), problem, cure });

  const share = (field: 'maxUnavailable' | 'maxSurge' | 'partition', value: IntOrPercentValue): IntOrPercent => {
    const read = parseIntOrPercent(String(value));
    if (read && !(read.kind === 'percent' && read.value > 100)) return read;
    refuse(field, value, 'is neither a whole number nor a percentage up to 100%', 'set one, such as 3 or "10%"');
    return count(0);
  };
  const { type = 'RollingUpdate', rollingUpdate = {} } = spec.updateStrategy ?? {};
  const said = effective(rollingUpdate);
  const maxUnavailable = share('maxUnavailable', said.maxUnavailable);
  const maxSurge = share('maxSurge', said.maxSurge);
  if (maxSurge.value > 0 && maxUnavailable.value > 0)
    refuse('maxSurge', said.maxSurge, 'cannot be had beside maxUnavailable', 'set one of the two to 0');
  const nodeSelector = rollingUpdate.selector && fromLabelSelector(rollingUpdate.selector);
  if (nodeSelector && !nodeSelector.ok)
    refuse('selector', JSON.stringify(rollingUpdate.selector), nodeSelector.problem, nodeSelector.cure);

  for (const field of [PREDELETE_TIMEOUT, IN_PLACE_GRACE]) {
    const value = annotations[field];
    if (value !== undefined && secondsOf(value) === undefined)
      errors.push({
        field,
        value,
        problem: 'is no number of seconds',
        cure: 'set a whole number, or remove the annotation',
      });
  }

  const chosen = readStrategy(annotations, errors, warnings);
  const owners = chosen?.value === 'ota';
  const policy: Policy = {
    strategy: owners ? 'ota' : type === 'OnDelete' ? 'manual' : 'auto',
    // A pod goes through its hook, stays within the budget, and is changed in place where it can be.
    byApproval: owners,
    maxUnavailable,
    maxSurge,
    percentOf: 'desired',
    inPlace: said.rollingUpdateType === 'InPlaceIfPossible',
    partition: share('partition', rollingUpdate.partition ?? 0),
    nodeSelector: nodeSelector?.ok === true ? nodeSelector.selector : undefined,
    paused: rollingUpdate.paused ?? false,
    minReadyMs: (spec.minReadySeconds ?? 0) * 1000,
    ...readTerms(annotations, errors),
    words: {
      ...(maxSurge.value > 0 ? surgingWords : words),
      ...(owners && { automate: automateFor(chosen.field, type) }),
    },
  };
  return validatedPolicy(policy, errors, warnings);
};
