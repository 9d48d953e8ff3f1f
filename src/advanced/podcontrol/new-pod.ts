import type { Affinity, NodeSelectorTerm, Pod, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { daemonTolerations, type Gate } from '../../rollout/index.ts';
import { controllerRef } from '../api/types.ts';
import { HASH_LENGTH, safeHash } from '../revisions/hash.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { withGates } from './readiness-gates.ts';

export interface NewPodInput {
  daemonSet: { apiVersion: string; name: string; namespace: string; uid: string };
  /** With all defaults. */
  template: PodTemplateSpec;
  node: string;
  /** Hash label of the template's revision. */
  revision: string;
  /** UID of the pod that it replaces, if any. */
  replaces: string | undefined;
  gates: readonly Gate[];
  /** In addition to the template's. */
  annotations?: Readonly<Record<string, string>>;
}

/** Limit of the API server. */
const MAX_NAME_LENGTH = 253;

/**
 * `<name>-<suffix>`. The suffix is derived from the purpose of the pod, so a second attempt to create it, by another leader or
 * after a lost response, fails with AlreadyExists.
 */
export const podNameOf = ({
  daemonSet,
  node,
  revision,
  replaces,
}: Omit<NewPodInput, 'template' | 'gates' | 'annotations'>): string => {
  const suffix = safeHash(JSON.stringify([daemonSet.uid, node, revision, replaces ?? '']));
  const room = MAX_NAME_LENGTH - HASH_LENGTH - 1;
  return `${daemonSet.name.slice(0, room).replace(/[-.]+$/, '')}-${suffix}`;
};

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
  const annotations = { ...metadata.annotations, ...input.annotations };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podNameOf(input),
      namespace: daemonSet.namespace,
      labels: { ...metadata.labels, [HASH_LABEL]: revision },
      ...(Object.keys(annotations).length > 0 && { annotations }),
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
