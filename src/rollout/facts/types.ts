/**
 * What the core knows of the cluster: small plain records, made from Kubernetes' objects at ingest (node-view.ts,
 * pod-facts.ts), so that no whole Pod or Node is ever kept.
 */

import type { ImageFacts } from './image-ready.ts';
import type { NeedUpgrade } from './need-upgrade.ts';

export interface Taint {
  key: string;
  value: string;
  effect: string;
}

/** One Node, as all DaemonSets share it. */
export interface NodeInfo {
  name: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  /** Condition Ready is True. */
  ready: boolean;
  /** When Ready last changed, by the clock of whoever wrote it; epoch ms, 0 when the node never reported. */
  readyChangedAt: number;
  /** It says of itself that an agent is there that pulls images. */
  hasImageAgent?: true;
}

/** One Node as one DaemonSet sees it. */
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
  /** An agent is there that pulls images by itself. */
  hasImageAgent?: true;
}

/** Why a pod that is not available will not become so by waiting a little. */
export type PodTrouble = 'crash-loop' | 'image-pull';

/** One pod that the DaemonSet owns (controller owner reference by UID). */
export interface PodFacts {
  uid: string;
  name: string;
  resourceVersion: string;
  /** Node it is bound or pinned to. */
  node: string;
  /** Label `controller-revision-hash`; empty when absent. */
  revision: string;
  /** Epoch ms, by the API server's clock. */
  createdAt: number;
  /** deletionTimestamp is set. */
  terminating: boolean;
  /** Condition Ready is True, every readiness gate of ours is open, and the pod has not finished. */
  ready: boolean;
  /** When that last changed, by the clock of whoever wrote it; epoch ms, 0 when unknown. */
  readyChangedAt: number;
  trouble: PodTrouble | undefined;
  /** A short text from the pod's own status, for people: what its trouble is, or why it is not placed; else empty. */
  detail: string;
  /** Condition PodNeedUpgrade as it stands; undefined while nothing is announced. */
  announced?: NeedUpgrade;
  /** Hash of the revision that its owner agreed to. */
  approved?: string;
  /** What condition PodImageReady says of the images that are pulled ahead; undefined while nothing is asked. */
  images?: ImageFacts;
  /** It has the readiness gate that a change in place needs. */
  hasInPlaceGate?: true;
  /** That gate is shut: it is being changed in place. */
  updatingInPlace?: boolean;
  /** When that gate was opened or shut last, epoch ms. */
  gateChangedAt?: number;
  /** It waits for its user's controller before it is deleted: down, though nothing terminates yet. */
  preparingDelete?: boolean;
  /** It has ended by itself. */
  finished?: 'Failed' | 'Succeeded';
  /** Pinned to its node, and not bound to it yet. */
  unbound?: true;
}
