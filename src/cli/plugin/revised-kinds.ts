import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { KubeClient, KubeObject, Resource, WriteOptions } from '../../kube/index.ts';
import { nativeKind, putTemplate } from '../../native/index.ts';
import { daemonSets } from '../../resources/index.ts';
import type { ParsedPolicy } from '../../rollout/index.ts';
import { policyOf } from './standing.ts';
import { readDaemonSetName } from './text.ts';

/** What DaemonSets of all kinds have, as far as their history goes. */
export interface RevisedDaemonSet extends KubeObject {
  spec?: {
    selector?: LabelSelector;
    template?: PodTemplateSpec;
    updateStrategy?: { type?: string };
  };
  status?: { observedGeneration?: number };
}

/** What a patch is refused for when it is not so any more. */
export interface Precondition {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** A kind of DaemonSet whose earlier templates are kept in ControllerRevisions that it owns. */
export interface RevisedKind {
  /** As kubectl names its objects. */
  label: string;
  resource: Resource<RevisedDaemonSet>;
  rolloutName(daemonSet: string): string;
  policyOf(daemonSet: RevisedDaemonSet): ParsedPolicy;
  /** One patch; refused with Conflict unless the DaemonSet is as it was read. Resolves with the DaemonSet as patched. */
  putTemplate(
    client: KubeClient,
    precondition: Precondition,
    change: { template: object; annotations: Readonly<Record<string, string | null>> },
    write: WriteOptions & { fieldManager: string },
  ): Promise<RevisedDaemonSet>;
}

const native: RevisedKind = {
  label: 'daemonset.apps',
  resource: daemonSets,
  rolloutName: (daemonSet) => nativeKind.rolloutName(daemonSet),
  policyOf,
  putTemplate,
};

/** The DaemonSet that a person names, and its kind. */
export const readRevised = (text: string): { kind: RevisedKind; name: string } => ({
  kind: native,
  name: readDaemonSetName(text),
});
