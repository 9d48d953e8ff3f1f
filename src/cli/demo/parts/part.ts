import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { type AdvancedDaemonSet, createAdvancedKind } from '../../../advanced/index.ts';
import { type DaemonSetView, type Kind, type ReadOptions, readRollout } from '../../../controller/index.ts';
import type { PatchOptions, Resource } from '../../../kube/index.ts';
import { nativeKind } from '../../../native/index.ts';
import type { Decision, Ledger } from '../../../rollout/index.ts';
import type { EmbeddedNode } from '../../../sim/index.ts';
import type { StepContext } from '../step.ts';

/** A DaemonSet of either kind. */
type DemoDaemonSet = DaemonSet | AdvancedDaemonSet;

/** A kind of DaemonSet, as the demo writes and reads it. */
export interface DemoKind {
  resource: Resource<DemoDaemonSet>;
  /** A strategic patch merges containers by name; a merge patch replaces the list. */
  patch: PatchOptions['type'];
  rolloutName(daemonSet: string): string;
  /** Reads a rollout as the plugin does. Undefined for a DaemonSet that isn't managed. */
  read(
    options: Pick<ReadOptions, 'client' | 'clock' | 'namespace' | 'name'>,
  ): Promise<{ ledger: Ledger; decision: Decision } | undefined>;
}

const toDemoKind = <D extends DemoDaemonSet, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  patch: DemoKind['patch'],
): DemoKind => ({
  resource: kind.resource,
  patch,
  rolloutName: (daemonSet) => kind.rolloutName(daemonSet),
  read: (options) => readRollout(kind, options),
});

export const native = toDemoKind(nativeKind, 'strategic');
export const advanced = toDemoKind(createAdvancedKind(), 'merge');

export interface Step {
  title: string;
  /** What to watch, and why it matters. */
  text: string;
  /** Changes the cluster and checks the result. Resolves with what was seen, as a clause. */
  run(step: StepContext): Promise<string>;
}

/** One DaemonSet, and the steps that it goes through. */
export interface Part {
  heading: string;
  nodes: readonly (EmbeddedNode & { name: string })[];
  /** Names of the nodes that the DaemonSet runs on, in the order in which they are drawn. */
  eligible: readonly string[];
  kind: DemoKind;
  daemonSet: DemoDaemonSet & { metadata: { name: string; namespace: string } };
  /** Fraction of the online nodes that may be down at once. */
  share: number;
  steps: readonly Step[];
  /** Figures for the summary, in addition to those of every part. Read after the last step. */
  figures(): readonly (readonly [label: string, value: string])[];
  /** Commands to try on the cluster afterwards, in this order. */
  tries: readonly (readonly [command: string, comment: string])[];
}

export interface PartOptions {
  /** Number of nodes in the fleet. */
  fleet: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** Nodes of one fleet: the taint keeps the DaemonSets of the other parts away. */
export const fleetNodes = (fleet: string, names: readonly string[]): Part['nodes'] =>
  names.map((name) => ({
    name,
    labels: { fleet },
    taints: [{ key: 'fleet', value: fleet, effect: 'NoSchedule' as const }],
  }));

/** The pod template of a DaemonSet that runs on the nodes of one fleet. */
export const fleetTemplate = (name: string, fleet: string, image: string, labels: Record<string, string> = {}) => ({
  metadata: { labels: { app: name, ...labels } },
  spec: {
    nodeSelector: { fleet },
    tolerations: [{ key: 'fleet', operator: 'Exists' }],
    containers: [{ name, image }],
  },
});
