import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { EmbeddedNode } from '../../../../embedded/index.ts';
import type { AdvancedDaemonSet } from '../../../kinds/advanced/index.ts';
import type { KubeObject, Resource } from '../../../kube/index.ts';
import type { DaemonSetKind } from '../../../view/index.ts';
import type { DaemonRolloutStatus } from '../../../words/index.ts';
import type { Snapshot } from '../../fleet/index.ts';
import type { Availability } from '../availability.ts';
import type { Environment } from '../environment.ts';

/** `that` completes "expected ...", `seen` completes "saw ..."; by default, the pods by image. */
export type Expectation = [that: string, test: () => boolean | Promise<boolean>, seen?: () => string];

/** What is seen of one DaemonSet, its nodes and its pods, independently of the manager. */
export interface Observer {
  availability: Availability;
  status: () => DaemonRolloutStatus | undefined;
  /** Whether the rollout's status has the condition for the current template. */
  conditionHolds(type: string): boolean;
  /** Pods on the node, including those that are being deleted. */
  podsOn: (node: string) => readonly Pod[];
  snapshot(): Promise<Snapshot>;
  /** The number of changes so far. */
  changes: () => number;
  stop: () => void;
}

/** What a step can do to the cluster, and how it checks the result. Everything that it expects rejects with a `DemoFailure`. */
export interface StepContext {
  part: Part;
  observer: Observer;
  agent: Environment['agent'];
  /** What the manager's Prometheus answers. */
  metrics: Environment['metrics'];
  /** Keeps the current snapshot for the picture. */
  keepPicture(caption: string): Promise<void>;
  /** Adds a line to the part's summary. */
  figure(label: string, value: string): void;
  /** The cluster's time. */
  now(): number;
  /** `2 with nginx:1.19.5, 1 with nginx:1.19.4 (not ready)`. */
  inventory(): string;
  /** Nodes that have other pods than at the start of the step. */
  replaced(): string[];
  /** Nodes whose pod has this image and is Ready. */
  nodesWith(image: string): Set<string>;
  haveImage(image: string, nodes: readonly string[]): boolean;
  /** The test holds now. */
  check(...expectation: Expectation): Promise<void>;
  /** Resolves once the test holds. */
  expect(...expectation: Expectation): Promise<void>;
  /** The test, and every rule, holds for the next `forMs` of the cluster's time. */
  hold(forMs: number, ...expectation: Partial<Expectation>): Promise<void>;
  expectImage(image: string, nodes: readonly string[]): Promise<void>;
  expectCondition(type: string, also?: () => boolean): Promise<void>;
  /** Creates the part's DaemonSet, in the API version of its manifest. */
  create(): Promise<void>;
  /** As `kubectl set image` does. */
  setImage(image: string): Promise<void>;
  /** The part of the spec that `setImage` changes, to combine with other changes. */
  imagePatch(image: string): { template: object };
  patch(body: object): Promise<void>;
  patchObject(resource: Resource, name: string, body: object): Promise<void>;
  patchMetadata(resource: Resource, name: string, metadata: object): Promise<void>;
  createObject<T extends KubeObject>(resource: Resource<T>, object: T): Promise<void>;
  takeOffline(nodes: readonly string[]): Promise<void>;
  bringBack(nodes: readonly string[]): Promise<void>;
  /** Runs a command of `kubectl edgeset`. */
  edgeset(...args: string[]): Promise<void>;
}

export interface Step {
  title: string;
  /** What to watch, and why it matters. */
  text: string;
  /** How long it takes on a quiet machine, in the cluster's time. */
  takesMs: number;
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
