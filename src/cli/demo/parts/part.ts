import type { DemoDaemonSet, DemoKind } from '../kinds.ts';
import type { Stage } from '../stage.ts';

export interface DemoNode {
  name: string;
  labels?: Readonly<Record<string, string>>;
  taints?: readonly { key: string; value?: string; effect: 'NoSchedule' }[];
}

export interface Step {
  title: string;
  /** One sentence: what to look at, and why it matters. */
  look: string;
  /** Acts and checks. Resolves with what was seen, as a clause. */
  play(stage: Stage): Promise<string>;
}

/** A story about one DaemonSet. */
export interface Part {
  heading: string;
  nodes: readonly DemoNode[];
  /** Names of those that the DaemonSet runs on, in the order in which they are drawn. */
  eligible: readonly string[];
  kind: DemoKind;
  daemonSet: DemoDaemonSet & { metadata: { name: string; namespace: string } };
  /** Share of the online nodes that may be down at once. */
  share: number;
  steps: readonly Step[];
  /** Figures of the summary beside those that every part has. Read after the last step. */
  figures(): readonly (readonly [label: string, value: string])[];
  /** What to try on the cluster afterwards, in this order; each works as it is written. */
  tries: readonly (readonly [command: string, what: string])[];
}

export interface PartOptions {
  /** Nodes of a fleet. */
  fleet: number;
  /** Uniform in [0, 1). */
  random: () => number;
}
