import type { StoredNode, StoredPod } from '../resources.ts';
import { runningContainers } from './containers.ts';

/** How pods fare; see docs/how-to/embedded-cluster.md. */
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

/** Milliseconds; a pod's or node's own `sim.edgeset.io/start-ms`, `stop-ms` and `die-ms` come first. */
export interface Delays {
  /** From a pod's arrival at its node to its containers' start, plus up to half of it again. */
  startMs: number;
  /** From the delete to the containers' end, plus up to half of it again. */
  stopMs: number;
  /** From ready to the death that a bad version brings. */
  dieMs: number;
  /** Pause before a crashed container's second start; doubled each time, up to 64 times as long. */
  backOffMs: number;
}

/** What a node answers to new amounts of cpu or memory for a running pod. */
export const resizeResults = ['granted', 'deferred', 'infeasible'] as const;
export type ResizeResult = (typeof resizeResults)[number];

/** How one pod fares on its node. */
export interface PodSimulation extends Delays {
  behaviour: Behaviour;
  resize: ResizeResult;
}

/** What a person sets on a node to take it offline, or to give all its pods a behaviour. */
export const POWER = 'edgeset.io/sim';
export const OFFLINE = 'offline';

const BEHAVIOUR = 'sim.edgeset.io/behaviour';
const RESIZE = 'sim.edgeset.io/resize';
const SLOW_FACTOR = 20;

export const toBehaviour = (text: string | undefined): Behaviour | undefined =>
  behaviours.find((behaviour) => behaviour === text);

const milliseconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

type Annotated = StoredNode | StoredPod | undefined;
const annotation = (object: Annotated, key: string): string | undefined => object?.metadata.annotations?.[key];

/** `app:v2--crash-loop`: what follows the dashes, of the first that has some. */
const ofImage = (pod: StoredPod): Behaviour | undefined =>
  runningContainers(pod.spec)
    .map(({ image = '' }) => toBehaviour(/--([a-z-]+)$/.exec(image)?.[1]))
    .find((behaviour) => behaviour !== undefined);

const resizingOf = (node: StoredNode | undefined, pod: StoredPod): ResizeResult => {
  const word = annotation(node, RESIZE) ?? annotation(pod, RESIZE);
  return resizeResults.find((resizing) => resizing === word) ?? 'granted';
};

/** The node's word comes before the pod's, and that before its image's. */
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
    startMs: own('start-ms') ?? delays.startMs * factor,
    stopMs: own('stop-ms') ?? delays.stopMs * factor,
    dieMs: own('die-ms') ?? delays.dieMs,
    backOffMs: delays.backOffMs,
  };
};
