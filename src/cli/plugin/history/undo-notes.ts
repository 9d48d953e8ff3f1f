import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { annotation, controllerOf, explainHold, formatIntOrPercent } from '../../../rollout/index.ts';
import { joinSentences } from '../text.ts';
import { describeRevision, type Revision, type RevisionHistory } from './revisions.ts';

/** The present revision, when the breaker has stopped it: the fleet has seen that it fails. */
export const failedRevision = ({ present, status }: RevisionHistory): Revision | undefined =>
  status?.halted?.reason === 'Failures' && status.target?.hash === present?.hash ? present : undefined;

/**
 * What the patch says of revisions that were rolled back. One that failed is marked as if edgeset had taken it away: set
 * again behind the person's back, it stays halted. One that the person names is rolled out, whatever was said of it before.
 */
export const rollbackMark = (kept: RevisionHistory, to: Revision): Record<string, string | null> => {
  const failed = failedRevision(kept);
  if (failed) return { [annotation.rolledBackFrom]: failed.hash };
  return kept.rolledBackHash === to.hash ? { [annotation.rolledBackFrom]: null } : {};
};

/** Who carries the change to the nodes, where that is not edgeset at once. */
const onThePolicy = ({ kind, policy, daemonSet, name }: RevisionHistory): string[] => {
  if (policy.kind === 'off')
    return daemonSet.spec?.updateStrategy?.type === 'OnDelete'
      ? [
          'The DaemonSet did not opt in to edgeset and its update strategy is OnDelete: a node goes back when you delete its pod.',
        ]
      : ['The DaemonSet did not opt in to edgeset: Kubernetes replaces its pods by RollingUpdate.'];
  if (policy.kind === 'invalid') {
    const { what, remedy } = explainHold({ kind: 'invalid', errors: policy.errors });
    return [joinSentences(`${what}, so no node is touched.`, remedy)];
  }
  const { paused, strategy, byApproval, maxUnavailable, maxSurge, partition, nodeSelector, words } = policy.policy;
  const notes: string[] = [];
  if (paused)
    notes.push(
      `The rollout is paused, and stays so: "kubectl edgeset resume ${kind.short}/${name}" lets the nodes go back.`,
    );
  if ((strategy === 'auto' || byApproval) && maxUnavailable.value === 0 && maxSurge.value === 0)
    notes.push(joinSentences('The budget is zero, so no node is touched.', `Raise ${words.maxUnavailable}.`));
  if (partition.value > 0)
    notes.push(
      `${words.partition} is ${formatIntOrPercent(partition)}: nodes that run the revision already count first towards those that may be updated, so set it to 0 for all nodes to go back.`,
    );
  if (nodeSelector) notes.push(`Only nodes that match ${words.nodeSelector} go back.`);
  if (strategy === 'manual') notes.push('The update strategy is OnDelete: a node goes back when you delete its pod.');
  if (strategy === 'ota') notes.push('The owner of each device decides when it goes back.');
  return notes;
};

/** Who keeps a DaemonSet as it stands elsewhere. */
interface TemplateOwner {
  /** By which it is recognised: a label or annotation of the DaemonSet, or what it calls itself when it writes. */
  keys: readonly string[];
  managers: readonly string[];
  warning: (value: string) => string;
}

const keepers: readonly TemplateOwner[] = [
  {
    // Argo CD's default label app.kubernetes.io/instance says nothing: Helm charts set it too.
    keys: ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/instance'],
    managers: ['argocd-controller', 'argocd-application-controller'],
    warning: (value) =>
      `Argo CD${value === '' ? '' : ` (application ${value.split(':')[0]})`} sets the template of its repository again at its next sync: revert it there too, or stop automated sync meanwhile.`,
  },
  {
    keys: ['kustomize.toolkit.fluxcd.io/name'],
    managers: ['kustomize-controller'],
    warning: (value) =>
      `Flux${value === '' ? '' : ` (Kustomization ${value})`} sets the template of its repository again at its next reconciliation: revert it there too, or "flux suspend kustomization${value === '' ? '' : ` ${value}`}" meanwhile.`,
  },
  {
    keys: ['helm.toolkit.fluxcd.io/name'],
    managers: ['helm-controller'],
    warning: (value) =>
      `Flux${value === '' ? '' : ` (HelmRelease ${value})`} sets the template of its chart again at its next upgrade, or at once where it corrects drift: revert the values there too, or "flux suspend helmrelease${value === '' ? '' : ` ${value}`}" meanwhile.`,
  },
  {
    keys: ['meta.helm.sh/release-name'],
    managers: [],
    warning: (value) =>
      `Helm (release ${value}) sets the template of its chart again at its next upgrade: revert the values too.`,
  },
];

/** A sentence for each one that will set its own template again, as far as the DaemonSet shows it. */
export const templateOwnerWarnings = (metadata: ObjectMeta = {}): string[] => {
  const { labels = {}, annotations = {}, managedFields = [] } = metadata;
  // What Flux installs is Helm's too: the first of them has the last word.
  const warnings = keepers
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
        `${controller.kind} ${controller.name} made the DaemonSet, and may set its own template again: see what it says of the version.`,
      ]
    : warnings;
};

/** What a person has to know beside the change itself. */
export const undoNotes = (kept: RevisionHistory, to: Revision): string[] => {
  const { kind, daemonSet, name, present, lastComplete, rolledBackHash, status } = kept;
  const notes: string[] = [];
  if (lastComplete && lastComplete.name !== present?.name && lastComplete.name !== to.name)
    notes.push(
      `The last revision that was complete is ${describeRevision(lastComplete)}: "kubectl edgeset undo ${kind.short}/${name} --to-revision ${lastComplete.number}".`,
    );
  const failed = failedRevision(kept);
  if (failed)
    notes.push(
      `The halt ends, for it was of revision ${failed.number}; nodes that it broke are repaired first. Set again, it stays halted (${annotation.rolledBackFrom}) until "kubectl edgeset resume ${kind.short}/${name}".`,
    );
  else if (status?.halted && status.target?.hash === present?.hash)
    notes.push(`The halt ends, for it was of revision ${present?.number}.`);
  if (rolledBackHash === to.hash)
    notes.push(`Revision ${to.number} was rolled back before because it failed; it is rolled out once more.`);
  return [...notes, ...onThePolicy(kept), ...templateOwnerWarnings(daemonSet.metadata)];
};
