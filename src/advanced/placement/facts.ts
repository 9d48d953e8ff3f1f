/** A node as placement sees it. */
export interface PlaceableNode {
  name: string;
  /** Condition Ready is True. */
  online: boolean;
  /** It gets a pod when it has none. */
  shouldRun: boolean;
  /** A pod that it has may stay. */
  shouldContinueRunning: boolean;
}

/** A pod of the DaemonSet as placement sees it. */
export interface PlacedPod {
  name: string;
  uid: string;
  /** Bound or pinned to. */
  node: string;
  bound: boolean;
  /** Epoch ms. */
  createdAt: number;
  terminating: boolean;
  /** Its removal has begun: its hook is asked, or its deletion is on its way. */
  going: boolean;
  /** It has ended by itself. */
  finished: 'Failed' | 'Succeeded' | undefined;
  /** Label controller-revision-hash. */
  revision: string;
}

/** Why a pod is removed; the words are for Events. */
export type RemovalReason = 'not-eligible' | 'duplicate' | 'failed' | 'succeeded' | 'node-gone';

export interface Creation {
  node: string;
  /** UID of the pod beside or after which it comes; undefined where there is none. */
  replaces: string | undefined;
  /** What is noted on it. */
  annotations?: Readonly<Record<string, string>>;
}

export interface Removal {
  pod: PlacedPod;
  why: RemovalReason;
}
