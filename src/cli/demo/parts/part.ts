import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { EmbeddedNode } from '../../../../embedded/index.ts';
import type { AdvancedDaemonSet } from '../../../kinds/advanced/index.ts';
import type { DaemonSetKind } from '../../plugin/kinds/kind.ts';
import type { StepContext } from '../step.ts';

export interface Step {
  title: string;
  /** What to watch, and why it matters. */
  text: string;
  /** Nodes that must keep their pods throughout the step. */
  unchanged?: readonly string[];
  /** Changes the cluster and checks the result. Resolves with what was seen, as a clause. */
  run(step: StepContext): Promise<string>;
}

/** One DaemonSet, and the steps that it goes through. */
export interface Part {
  heading: string;
  nodes: readonly (EmbeddedNode & { name: string })[];
  /** Names of the nodes that the DaemonSet runs on, in the order in which they are drawn. */
  eligible: readonly string[];
  kind: DaemonSetKind;
  daemonSet: (DaemonSet | AdvancedDaemonSet) & { metadata: { name: string; namespace: string } };
  /** Fraction of the online nodes that may be down at once. */
  share: number;
  steps: readonly Step[];
  /** Commands to try on the cluster afterwards, in this order. */
  tries: readonly (readonly [command: string, comment: string])[];
}

export interface PartOptions {
  /** Number of nodes in the fleet. */
  fleet: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** To group the nodes by on the dashboard. */
const REGIONS = ['north', 'east', 'south', 'west'];

/** Nodes of one fleet: the taint keeps the DaemonSets of the other parts away. */
export const fleetNodes = (fleet: string, names: readonly string[]): Part['nodes'] =>
  names.map((name, index) => ({
    name,
    labels: { fleet, region: REGIONS[index % REGIONS.length] ?? '' },
    taints: [{ key: 'fleet', value: fleet, effect: 'NoSchedule' as const }],
  }));

/** The pod template of a DaemonSet. With a fleet, its pods run on the nodes of that fleet. */
export const podTemplate = (app: string, image: string, fleet?: string) => ({
  metadata: { labels: { app } },
  spec: {
    ...(fleet !== undefined && { nodeSelector: { fleet }, tolerations: [{ key: 'fleet', operator: 'Exists' }] }),
    containers: [{ name: app, image }],
  },
});

/** A native DaemonSet that edgeset updates: `OnDelete`, with the annotations of OpenYurt. */
export const nativeDaemonSet = (
  name: string,
  annotations: Record<string, string>,
  template: ReturnType<typeof podTemplate>,
): Part['daemonSet'] => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, namespace: 'default', annotations },
  spec: { selector: { matchLabels: template.metadata.labels }, updateStrategy: { type: 'OnDelete' }, template },
});
