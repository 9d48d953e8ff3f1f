import type { Affinity, NodeSelectorTerm, Pod, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { daemonTolerations, type Gate } from '../../rollout/index.ts';
import { HASH_LENGTH, safeHash } from '../revisions/hash.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { withGates } from './readiness-gates.ts';

export interface NewPodInput {
  daemonSet: { apiVersion: string; name: string; namespace: string; uid: string };
  /** With all defaults. */
  template: PodTemplateSpec;
  node: string;
  /** Hash label of the revision that the template is. */
  revision: string;
  /** UID of the pod whose place it takes; undefined on a node that has none. */
  replaces: string | undefined;
  gates: readonly Gate[];
  /** Beside the template's. */
  annotations?: Readonly<Record<string, string>>;
}

/** Of a pod's name. */
const LONGEST_NAME = 253;

/**
 * `<name>-<suffix>`, the suffix from what the pod is for: two leaders, or one whose answer was lost, that create it
 * again meet in AlreadyExists, which then means done.
 */
export const podNameOf = ({
  daemonSet,
  node,
  revision,
  replaces,
}: Omit<NewPodInput, 'template' | 'gates' | 'annotations'>): string => {
  const suffix = safeHash(JSON.stringify([daemonSet.uid, node, revision, replaces ?? '']));
  const room = LONGEST_NAME - HASH_LENGTH - 1;
  return `${daemonSet.name.slice(0, room).replace(/[-.]+$/, '')}-${suffix}`;
};

/** Every required term narrowed to this one node; the scheduler binds the pod there and nowhere else. */
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

/** The template's tolerations and those that daemons have, each once. */
const tolerated = (spec: PodSpec): PodSpec['tolerations'] => {
  const own = spec.tolerations ?? [];
  const known = new Set(own.map((each) => JSON.stringify([each.key, each.operator, each.value, each.effect])));
  const added = daemonTolerations(spec).filter(
    ({ key, operator, value, effect }) => !known.has(JSON.stringify([key, operator, value, effect])),
  );
  return [...own, ...added];
};

/** The pod that a node gets: what the native controller would make of the template, and our gates. */
export const newPod = (input: NewPodInput): Pod => {
  const { daemonSet, template, node, revision, gates } = input;
  const { metadata = {}, spec = { containers: [] } } = template;
  const annotations = { ...metadata.annotations, ...input.annotations };
  const { apiVersion, name, namespace, uid } = daemonSet;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podNameOf(input),
      namespace,
      labels: { ...metadata.labels, [HASH_LABEL]: revision },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(metadata.finalizers && { finalizers: metadata.finalizers }),
      ownerReferences: [{ apiVersion, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      ...withGates(spec, gates),
      affinity: pinned(spec.affinity, node),
      tolerations: tolerated(spec) ?? [],
    },
  };
};
