import { ownKey } from '../../src/words/index.ts';
import type { StoredNode, StoredPod } from '../resources.ts';
import { runningContainers } from './containers.ts';

/** What pods do when they run; see docs/how-to/embedded-cluster.md. */
export const behaviours = [
  'ready',
  'slow',
  'crash-loop',
  'not-pullable',
  'never-ready',
  'dies-after-ready',
  'failed',
  'kills-node',
  'stuck-terminating',
] as const;
export type Behaviour = (typeof behaviours)[number];

/** Milliseconds. The annotations `sim.edgeset.io/start-ms`, `stop-ms` and `die-ms` of a pod or node take precedence. */
export interface Delays {
  /** From binding to the start of the containers, plus up to 50% jitter. */
  startMs: number;
  /** From the delete to the termination of the containers, plus up to 50% jitter. */
  stopMs: number;
  /** From Ready to the failure of a bad version. */
  dieMs: number;
  /** Back-off before a crashed container's second start; doubles each time, up to 64 times as long. */
  backOffMs: number;
}

/** How a node responds to an in-place resize. */
const resizeResults = ['granted', 'deferred', 'infeasible'] as const;
export type ResizeResult = (typeof resizeResults)[number];

/** How one pod is simulated on its node. */
export interface PodSimulation extends Delays {
  behaviour: Behaviour;
  resize: ResizeResult;
  /** What the names of images mean on the node, as after a tag was pushed again; empty: what they mean elsewhere. */
  content: string;
}

/** Annotation that takes a node offline, or gives all its pods a behaviour. */
export const POWER = ownKey.simulatedNode;
export const OFFLINE = 'offline';

const BEHAVIOUR = 'sim.edgeset.io/behaviour';
const RESIZE = 'sim.edgeset.io/resize';
const CONTENT = 'sim.edgeset.io/content';
const SLOW_FACTOR = 20;

export const toBehaviour = (text: string | undefined): Behaviour | undefined =>
  behaviours.find((behaviour) => behaviour === text);

const milliseconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

type Annotated = StoredNode | StoredPod | undefined;
const annotation = (object: Annotated, key: string): string | undefined => object?.metadata.annotations?.[key];

/** `app:v2--crash-loop`: the suffix after the dashes, of the first container that has one. */
const ofImage = (pod: StoredPod): Behaviour | undefined =>
  runningContainers(pod.spec)
    .map(({ image = '' }) => toBehaviour(image.split('--').slice(1).at(-1)))
    .find((behaviour) => behaviour !== undefined);

const resizingOf = (node: StoredNode | undefined, pod: StoredPod): ResizeResult => {
  const value = annotation(node, RESIZE) ?? annotation(pod, RESIZE);
  return resizeResults.find((resizing) => resizing === value) ?? 'granted';
};

/** A node's annotation takes precedence over a pod's, and a pod's over its image tag. */
export const podSimulation = (pod: StoredPod, node: StoredNode | undefined, delays: Delays): PodSimulation => {
  const behaviour =
    toBehaviour(annotation(node, BEHAVIOUR)) ??
    toBehaviour(annotation(node, POWER)) ??
    toBehaviour(annotation(pod, BEHAVIOUR)) ??
    ofImage(pod) ??
    'ready';
  const own = (key: string): number | undefined =>
    milliseconds(annotation(node, `sim.edgeset.io/${key}`)) ?? milliseconds(annotation(pod, `sim.edgeset.io/${key}`));
  const factor = behaviour === 'slow' ? SLOW_FACTOR : 1;
  return {
    behaviour,
    resize: resizingOf(node, pod),
    content: annotation(node, CONTENT) ?? '',
    startMs: own('start-ms') ?? delays.startMs * factor,
    stopMs: own('stop-ms') ?? delays.stopMs * factor,
    dieMs: own('die-ms') ?? delays.dieMs,
    backOffMs: delays.backOffMs,
  };
};
