import type { Phase } from '../../rollout/index.ts';

/** One node as it is drawn. */
export interface NodeCell {
  name: string;
  /** Undefined while no DaemonSet wants it. */
  phase: Phase | undefined;
  /** Image of the pod on it; empty when there is none. */
  image: string;
}

export interface EventLine {
  reason: string;
  note: string;
  warning: boolean;
}

/** The cluster at one moment, as far as it is drawn. */
export interface Scene {
  /** In the order of their names. */
  nodes: readonly NodeCell[];
  counts: Readonly<Partial<Record<Phase, number>>>;
  /** Slots of the budget. */
  budget: { inUse: number; limit: number };
  halted: boolean;
  /** Oldest first. */
  events: readonly EventLine[];
}

export const emptyScene: Scene = {
  nodes: [],
  counts: {},
  budget: { inUse: 0, limit: 0 },
  halted: false,
  events: [],
};

/** What is being played. */
export interface Playing {
  /** Of the part. */
  heading: string;
  /** From 1, over all parts. */
  step: number;
  steps: number;
  title: string;
  look: string;
  speed: number;
  /** Since the demo began, of our own time. */
  elapsedMs: number;
}
