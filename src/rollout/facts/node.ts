import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { ownKey } from '../../words/index.ts';
import { toEpochMs } from './metadata.ts';
import { type KnownImages, type ListedState, type NodeImages, readNodeImages } from './node-images.ts';

// The core keeps small plain records instead of whole Nodes and Pods.

export interface Taint {
  key: string;
  value: string;
  effect: string;
}

/** What rollouts need from a Node; shared by all DaemonSets. */
export interface NodeInfo {
  name: string;
  /** A machine that is set up again under its old name has another one. */
  uid: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  /** Types of its other conditions that are True; absent without any. */
  conditions?: readonly string[];
  /** Condition Ready is True. */
  ready: boolean;
  /** When Ready last changed, by the clock of its writer; epoch ms, 0 if the node has never reported. */
  readyChangedAt: number;
  /** Value of the annotation with its time zone, as it is written there. */
  timeZone?: string;
  /** Absent for a node that lists no images. */
  images?: NodeImages;
}

/** A Node in relation to one DaemonSet. */
export interface NodeFacts {
  name: string;
  ready: boolean;
  readyChangedAt: number;
  /** The native controller would run the pod here. */
  eligible: boolean;
  /** Matches the policy's node selector (true without one). */
  selected: boolean;
  /** Value of the policy's topology label; empty without one. */
  zone: string;
  /** Value of its label `kubernetes.io/arch`; absent without it. */
  arch?: string;
  /** The plan's stages whose selector matches, as bits: the first stage is bit 0. Absent without stages. */
  stages?: number;
  /** The values of the plan's topology keys (`groupsOf`). Absent without any. */
  groups?: string;
  /** What its list says of the template's images: all are there, or one is not. Absent while it proves neither. */
  images?: ListedState;
  /** Why the plan skips it for now (`skipNodes`), as a noun. Absent otherwise. */
  busy?: string;
  /** The node's own time zone. */
  timeZone?: string;
}

/** A node that has never reported is not ready. */
const read = (node: Node, known: KnownImages): NodeInfo => {
  const { [ownKey.timeZone]: timeZone } = node.metadata?.annotations ?? {};
  const { conditions = [] } = node.status ?? {};
  const condition = conditions.find(({ type }) => type === 'Ready');
  const images = readNodeImages(node, known);
  const others = conditions.flatMap(({ type, status }) => (type !== 'Ready' && status === 'True' ? [type] : []));
  return {
    name: node.metadata?.name ?? '',
    uid: node.metadata?.uid ?? '',
    labels: node.metadata?.labels ?? {},
    taints: (node.spec?.taints ?? []).map(({ key, value = '', effect }) => ({ key, value, effect })),
    ...(others.length > 0 && { conditions: others.toSorted() }),
    ready: condition?.status === 'True',
    readyChangedAt: toEpochMs(condition?.lastTransitionTime),
    ...(timeZone !== undefined && { timeZone }),
    ...(images && { images }),
  };
};

/** Reads the nodes of one cluster, which share what is known of images. */
export const createNodeReader = (): ((node: Node) => NodeInfo) => {
  const known: KnownImages = new Map();
  return (node) => read(node, known);
};

/** Reads one node on its own. */
export const toNodeInfo = (node: Node): NodeInfo => read(node, new Map());
