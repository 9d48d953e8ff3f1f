import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import {
  commandWords,
  controllerOf,
  explainHold,
  formatIntOrPercent,
  type RemedyCommand,
} from '../../rollout/index.ts';
import { joinSentences } from '../../view/index.ts';
import { annotation } from '../../words/index.ts';
import { describeRevision, type Revision, type RevisionHistory } from './revisions.ts';

/** The current revision, if the breaker has halted it. */
export const failedRevision = ({ present, status }: RevisionHistory): Revision | undefined =>
  status?.halted?.reason === 'Failures' && status.target?.hash === present?.hash ? present : undefined;

/**
 * The annotation to write. A failed revision is marked as rolled back, so that it stays halted if a tool sets it again.
 * The mark is removed from a revision that the user rolls back to.
 */
export const rollbackMark = (kept: RevisionHistory, to: Revision): Record<string, string | null> => {
  const failed = failedRevision(kept);
  if (failed) return { [annotation.rolledBackFrom]: failed.hash };
  return kept.rolledBackHash === to.hash ? { [annotation.rolledBackFrom]: null } : {};
};

/** Why edgeset does not update all nodes at once. */
const policyNotes = ({ kind, policy, daemonSet, name, edgeset }: RevisionHistory): string[] => {
  if (policy.kind === 'off')
    return daemonSet.spec?.updateStrategy?.type === 'OnDelete'
      ? [
          'edgeset does not manage the DaemonSet, and its update strategy is OnDelete: a node is rolled back when you delete its pod.',
        ]
      : ['edgeset does not manage the DaemonSet: Kubernetes replaces its pods with a RollingUpdate.'];
  if (policy.kind === 'invalid') {
    const { what, remedy } = explainHold({ kind: 'invalid', errors: policy.errors });
    return [joinSentences(`${what}, so no node is updated.`, remedy)];
  }
  const { paused, strategy, byApproval, maxUnavailable, maxSurge, partition, nodeSelector, words } = policy.policy;
  const typed = (command: RemedyCommand): string => edgeset(commandWords(command, { short: kind.short, name }));
  const notes: string[] = [];
  if (paused) notes.push(`The rollout stays paused: run "${typed({ verb: 'resume' })}" to roll the nodes back.`);
  if ((strategy === 'auto' || byApproval) && maxUnavailable.value === 0 && maxSurge.value === 0)
    notes.push(
      `The budget is zero, so no node is updated. Run "${typed({ verb: 'set', flag: 'max-unavailable', value: 'VALUE' })}".`,
    );
  if (partition.value > 0)
    notes.push(
      `${words.partition} is ${formatIntOrPercent(partition)}: nodes that already run the revision count first towards the nodes that may be updated. Set it to 0 to roll back all nodes.`,
    );
  if (nodeSelector) notes.push(`Only nodes that match ${words.nodeSelector} are rolled back.`);
  if (strategy === 'manual')
    notes.push('The update strategy is OnDelete: a node is rolled back when you delete its pod.');
  if (strategy === 'ota') notes.push('The owner of each device decides when it is rolled back.');
  return notes;
};

/** A tool that restores the template of a DaemonSet from its own source. */
interface TemplateOwner {
  /** Labels or annotations by which it is recognized. */
  keys: readonly string[];
  /** Its field managers. */
  managers: readonly string[];
  warning: (value: string) => string;
}

const templateOwners: readonly TemplateOwner[] = [
  {
    // Not Argo CD's default label app.kubernetes.io/instance: Helm charts set it, too.
    keys: ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/instance'],
    managers: ['argocd-controller', 'argocd-application-controller'],
    warning: (value) =>
      `Argo CD${value === '' ? '' : ` (application ${value.split(':')[0]})`} restores the template from its repository at its next sync: revert it there too, or stop automated sync.`,
  },
  {
    keys: ['kustomize.toolkit.fluxcd.io/name'],
    managers: ['kustomize-controller'],
    warning: (value) =>
      `Flux${value === '' ? '' : ` (Kustomization ${value})`} restores the template from its repository at its next reconciliation: revert it there too, or run "flux suspend kustomization${value === '' ? '' : ` ${value}`}".`,
  },
  {
    keys: ['helm.toolkit.fluxcd.io/name'],
    managers: ['helm-controller'],
    warning: (value) =>
      `Flux${value === '' ? '' : ` (HelmRelease ${value})`} restores the template from its chart at its next upgrade, or at once if it corrects drift: revert the values there too, or run "flux suspend helmrelease${value === '' ? '' : ` ${value}`}".`,
  },
  {
    keys: ['meta.helm.sh/release-name'],
    managers: [],
    warning: (value) =>
      `Helm (release ${value}) restores the template from its chart at its next upgrade: revert the values, too.`,
  },
];

/** Warnings about tools and controllers that will restore their own template. */
export const templateOwnerWarnings = (metadata: ObjectMeta = {}): string[] => {
  const { labels = {}, annotations = {}, managedFields = [] } = metadata;
  // A HelmRelease of Flux has the annotations of Helm, too: only the first tool that matches counts.
  const warnings = templateOwners
    .flatMap(({ keys, managers, warning }) => {
      const value = keys.map((key) => annotations[key] ?? labels[key]).find((found) => found !== undefined);
      const writes = managedFields.some(({ manager }) => manager !== undefined && managers.includes(manager));
      return value !== undefined || writes ? [warning(value ?? '')] : [];
    })
    .slice(0, 1);
  const controller = controllerOf({ metadata });
  return controller
    ? [
        ...warnings,
        `${controller.kind} ${controller.name} controls the DaemonSet and may restore its own template: set the version there, too.`,
      ]
    : warnings;
};

/** What the user should know about the rollback. */
export const undoNotes = (kept: RevisionHistory, to: Revision): string[] => {
  const { kind, daemonSet, name, present, lastComplete, rolledBackHash, status, edgeset } = kept;
  const notes: string[] = [];
  if (lastComplete && lastComplete.name !== present?.name && lastComplete.name !== to.name)
    notes.push(
      `The last complete revision is ${describeRevision(lastComplete)}: "${edgeset(`undo ${kind.short}/${name} --to-revision ${lastComplete.number}`)}".`,
    );
  const failed = failedRevision(kept);
  if (failed)
    notes.push(
      `The halt of revision ${failed.number} ends; nodes that it broke are repaired first. If it is set again, it stays halted (${annotation.rolledBackFrom}) until "${edgeset(`resume ${kind.short}/${name}`)}".`,
    );
  else if (status?.halted && status.target?.hash === present?.hash)
    notes.push(`The halt of revision ${present?.number} ends.`);
  if (rolledBackHash === to.hash)
    notes.push(`Revision ${to.number} failed and was rolled back before; it is rolled out again.`);
  if (status?.plan !== undefined && lastComplete)
    notes.push(
      to.name === lastComplete.name
        ? `Revision ${to.number} was last complete: the stages of plan ${status.plan} don't hold it back, and neither do its windows and freezes unless it sets windowsOnRollback.`
        : `Revision ${to.number} was not last complete: the stages, windows and freezes of plan ${status.plan} hold for it as for any other revision.`,
    );
  return [...notes, ...policyNotes(kept), ...templateOwnerWarnings(daemonSet.metadata)];
};
