import { controllerOf, type DaemonRollout, type ParsedPolicy } from '../../rollout/index.ts';
import type { Subject } from './kinds.ts';

/**
 * Where a rollout stands for whoever waits for it. `rests`: all that the policy allows is updated, and a partition or a
 * node selector leaves the others on the old revision on purpose.
 */
export interface Standing {
  kind: 'complete' | 'rests' | 'stalled' | 'going';
  message: string;
}

const going = (message: string): Standing => ({ kind: 'going', message });

/** Does the status speak of the policy that the DaemonSet has now? Annotations do not raise the generation. */
const knowsPolicy = (policy: ParsedPolicy, policyHash: string | undefined): boolean =>
  policyHash === (policy.kind === 'on' ? policy.hash : '');

const onPurpose: ReadonlySet<string> = new Set(['partition', 'node-selector']);

/** What the rollout object says of the DaemonSet as it is now; what speaks of an earlier one is no answer. */
export const standingOf = (
  { object: { metadata }, policy }: Pick<Subject, 'object' | 'policy'>,
  rollout: DaemonRollout | undefined,
): Standing => {
  const status = controllerOf(rollout ?? {})?.uid === metadata?.uid ? rollout?.status : undefined;
  if (!status || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0))
    return going('Waiting for the manager to see the present template.');
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const [complete, stalled, ready] = ['Complete', 'Stalled', 'Ready'].map(condition);
  if (complete?.status === 'True' && stalled?.status !== 'True') return { kind: 'complete', message: complete.message };
  // A resumed or mended rollout stays Stalled until the manager has read the annotation: that is no end.
  if (!knowsPolicy(policy, status.policyHash)) return going('Waiting for the manager to see the present policy.');
  if (stalled?.status === 'True') return { kind: 'stalled', message: stalled.message };
  const message = ready?.message ?? status.summary ?? '';
  const held = (status.causes ?? []).filter(({ phase }) => phase === 'held');
  const rests = ready?.reason === 'LeftOnOldRevision' && held.every(({ cause }) => onPurpose.has(cause));
  return rests
    ? { kind: 'rests', message: `${message} The others are left on the old revision, as the policy asks.` }
    : going(message);
};
