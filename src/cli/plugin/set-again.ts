import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { controllerOf } from '../../rollout/index.ts';

/** Who keeps a DaemonSet as it stands elsewhere. */
interface Keeper {
  /** By which it is recognised: a label or annotation of the DaemonSet, or what it calls itself when it writes. */
  keys: readonly string[];
  managers: readonly string[];
  warning: (value: string) => string;
}

const keepers: readonly Keeper[] = [
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
export const whoSetsItAgain = (metadata: ObjectMeta = {}): string[] => {
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
