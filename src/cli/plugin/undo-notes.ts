import { annotation, explainHold, formatIntOrPercent } from '../../rollout/index.ts';
import { inWords, type Kept, type KeptRevision } from './kept-revisions.ts';
import { whoSetsItAgain } from './set-again.ts';
import { sentences } from './text.ts';

/** The present revision, when the breaker has stopped it: the fleet has seen that it fails. */
export const failedRevision = ({ present, status }: Kept): KeptRevision | undefined =>
  status?.halted?.reason === 'Failures' && status.target?.hash === present?.hash ? present : undefined;

/**
 * What the patch says of revisions that were rolled back. One that failed is marked as if edgeset had taken it away: set
 * again behind the person's back, it stays halted. One that the person names is rolled out, whatever was said of it before.
 */
export const markOf = (kept: Kept, to: KeptRevision): Record<string, string | null> => {
  const failed = failedRevision(kept);
  if (failed) return { [annotation.rolledBackFrom]: failed.hash };
  return kept.rolledBackFrom === to.hash ? { [annotation.rolledBackFrom]: null } : {};
};

/** Who carries the change to the nodes, where that is not edgeset at once. */
const onThePolicy = ({ kind, policy, daemonSet, name }: Kept): string[] => {
  if (policy.kind === 'off')
    return daemonSet.spec?.updateStrategy?.type === 'OnDelete'
      ? [
          'The DaemonSet did not opt in to edgeset and its update strategy is OnDelete: a node goes back when you delete its pod.',
        ]
      : ['The DaemonSet did not opt in to edgeset: Kubernetes replaces its pods by RollingUpdate.'];
  if (policy.kind === 'invalid') {
    const { what, remedy } = explainHold({ kind: 'invalid', errors: policy.errors });
    return [sentences(`${what}, so no node is touched.`, remedy)];
  }
  const { paused, strategy, byApproval, maxUnavailable, maxSurge, partition, nodeSelector, words } = policy.policy;
  const notes: string[] = [];
  if (paused)
    notes.push(
      `The rollout is paused, and stays so: "kubectl edgeset resume ${kind.short}/${name}" lets the nodes go back.`,
    );
  if ((strategy === 'auto' || byApproval) && maxUnavailable.value === 0 && maxSurge.value === 0)
    notes.push(sentences('The budget is zero, so no node is touched.', `Raise ${words.maxUnavailable}.`));
  if (partition.value > 0)
    notes.push(
      `${words.partition} is ${formatIntOrPercent(partition)}: nodes that run the revision already count first towards those that may be updated, so set it to 0 for all nodes to go back.`,
    );
  if (nodeSelector) notes.push(`Only nodes that match ${words.nodeSelector} go back.`);
  if (strategy === 'manual') notes.push('The update strategy is OnDelete: a node goes back when you delete its pod.');
  if (strategy === 'ota') notes.push('The owner of each device decides when it goes back.');
  return notes;
};

/** What a person has to know beside the change itself. */
export const undoNotes = (kept: Kept, to: KeptRevision): string[] => {
  const { kind, daemonSet, name, present, lastComplete, rolledBackFrom, status } = kept;
  const notes: string[] = [];
  if (lastComplete && lastComplete.name !== present?.name && lastComplete.name !== to.name)
    notes.push(
      `The last revision that was complete is ${inWords(lastComplete)}: "kubectl edgeset undo ${kind.short}/${name} --to-revision ${lastComplete.number}".`,
    );
  const failed = failedRevision(kept);
  if (failed)
    notes.push(
      `The halt ends, for it was of revision ${failed.number}; nodes that it broke are repaired first. Set again, it stays halted (${annotation.rolledBackFrom}) until "kubectl edgeset resume ${kind.short}/${name}".`,
    );
  else if (status?.halted && status.target?.hash === present?.hash)
    notes.push(`The halt ends, for it was of revision ${present?.number}.`);
  if (rolledBackFrom === to.hash)
    notes.push(`Revision ${to.number} was rolled back before because it failed; it is rolled out once more.`);
  return [...notes, ...onThePolicy(kept), ...whoSetsItAgain(daemonSet.metadata)];
};
