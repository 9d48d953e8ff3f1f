import type { Affinity, NodeSelectorTerm, Pod, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { daemonTolerations } from '../../../rollout/index.ts';
import type { Gate } from '../../../words/index.ts';
import { controllerRef } from '../api/types.ts';
import { HASH_LENGTH, safeHash } from '../revisions/hash.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { withGates } from './readiness-gates.ts';

export interface NewPodInput {
  daemonSet: { apiVersion: string; name: string; namespace: string; uid: string };
  /** With all defaults. */
  template: PodTemplateSpec;
  node: string;
  nodeUid: string;
  /** Hash label of the template's revision. */
  revision: string;
  /** UID of the last pod on the node before it, if any is known. */
  replaces: string | undefined;
  gates: readonly Gate[];
  /** In addition to the template's. */
  annotations?: Readonly<Record<string, string>>;
}

/**
 * cluster-autoscaler and Karpenter know the pods of a native DaemonSet by the kind of their owner, and others by this annotation:
 * such a pod neither needs a new node nor keeps an empty one.
 */
const DAEMON_POD = 'cluster-autoscaler.kubernetes.io/daemonset-pod';

/** Limit of the API server. */
const MAX_NAME_LENGTH = 253;

/**
 * `<name>-<suffix>`. The suffix is derived from the purpose of the pod, so a second attempt to create it, by another leader or
 * after a lost response, fails with AlreadyExists. A pod never has the name of the one that it
 * replaces: a request for the old name must not return the new pod, and logs and metrics must not merge the two.
 */
export const podNameOf = (input: Omit<NewPodInput, 'template' | 'gates' | 'annotations'>): string => {
  const { daemonSet, node, nodeUid, revision, replaces } = input;
  const suffix = safeHash(JSON.stringify([daemonSet.uid, node, nodeUid, revision, replaces ?? '']));
  const room = MAX_NAME_LENGTH - HASH_LENGTH - 1;
  return `${daemonSet.name.slice(0, room).replace(/(?<![-.])[-.]+$/, '')}-${suffix}`;
};

/** As the DaemonSet controller sets it: tools derive the workload from it. The API server refuses one that is too long. */
const generateNameOf = (name: string): string => (name.length < MAX_NAME_LENGTH ? `${name}-` : name);

/** Narrows every required term to this node, so that the scheduler binds the pod only there. */
const pinned = (affinity: Affinity | undefined, node: string): Affinity => {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms: NodeSelectorTerm[] = required?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms = terms.length === 0 ? [{ matchFields }] : terms.map((term) => ({ ...term, matchFields }));
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    },
  };
};

/** Adds the tolerations of daemon pods to those of the template. */
const tolerated = (spec: PodSpec): PodSpec['tolerations'] => {
  const own = spec.tolerations ?? [];
  const known = new Set(own.map((each) => JSON.stringify([each.key, each.operator, each.value, each.effect])));
  const added = daemonTolerations(spec).filter(
    ({ key, operator, value, effect }) => !known.has(JSON.stringify([key, operator, value, effect])),
  );
  return [...own, ...added];
};

/** The pod for a node: what the DaemonSet controller would create from the template, with our gates. */
export const newPod = (input: NewPodInput): Pod => {
  const { daemonSet, template, node, revision, gates } = input;
  const { metadata = {}, spec = { containers: [] } } = template;
  const annotations = { [DAEMON_POD]: 'true', ...metadata.annotations, ...input.annotations };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podNameOf(input),
      generateName: generateNameOf(daemonSet.name),
      namespace: daemonSet.namespace,
      labels: { ...metadata.labels, [HASH_LABEL]: revision },
      annotations,
      ...(metadata.finalizers && { finalizers: metadata.finalizers }),
      ownerReferences: [controllerRef(daemonSet)],
    },
    spec: {
      ...withGates(spec, gates),
      affinity: pinned(spec.affinity, node),
      tolerations: tolerated(spec) ?? [],
    },
  };
};
