import type { ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import { backoffMs } from '../../src/runtime/index.ts';
import type { StoredPod } from '../resources.ts';
import type { PodSimulation } from './behaviour.ts';
import { notStarted, resized, stoppedForNewImage } from './container-status.ts';
import { imageFor, isOutdated, statusesOf, withStatuses } from './containers.ts';
import type { PodAction } from './next-action.ts';
import {
  admitted,
  crashed,
  EVICTED,
  evicted,
  failed,
  type Host,
  notReady,
  pulling,
  ready,
  resizing,
  started,
  stopped,
} from './pod-status.ts';

export interface PodEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  container?: string;
}

interface Effect {
  /** Milliseconds until the action is done. `jitter` in [0, 1) is fixed for each pod. */
  readonly delayMs: (simulation: PodSimulation, jitter: number, pod: StoredPod) => number;
  /** The fields of the pod's status that change. */
  readonly status?: (pod: StoredPod, now: string, host: Host, simulation: PodSimulation) => object;
  /** The Events that the kubelet records, for the pod before the action. */
  readonly events?: (pod: StoredPod) => PodEvent[];
}

const PULL_BACK_OFF_MS = 500;
/** The longest back-off of a container that keeps crashing, as a multiple of the first. */
const LONGEST_BACK_OFF = 64;

const after = (ms: number) => (): number => ms;
const atOnce = after(0);
/** A kubelet handles changes by others in its next sync loop. */
const inNextSync = after(100);
const starting = ({ startMs }: PodSimulation, jitter: number): number => startMs * (1 + jitter / 2);
const stopping = ({ stopMs }: PodSimulation, jitter: number): number => stopMs * (1 + jitter / 2);
const dying = ({ dieMs }: PodSimulation): number => dieMs;
const backingOff = ({ backOffMs }: PodSimulation, _: number, pod: StoredPod): number =>
  backoffMs(Math.max(0, ...statusesOf(pod).map(({ restartCount }) => restartCount)), {
    baseMs: backOffMs,
    maxMs: backOffMs * LONGEST_BACK_OFF,
  });

const normal = (reason: string, message: string): PodEvent => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): PodEvent => ({ type: 'Warning', reason, message });

/** The same Events for each container that matches. */
const eachContainer =
  (
    eventsOf: (name: string, image: string, pod: StoredPod) => PodEvent[],
    matches: (status: ContainerStatus, pod: StoredPod) => boolean = () => true,
  ) =>
  (pod: StoredPod): PodEvent[] =>
    statusesOf(pod)
      .filter((status) => matches(status, pod))
      .flatMap((status) =>
        eventsOf(status.name, imageFor(pod, status), pod).map((event) => ({ ...event, container: status.name })),
      );

const isWaiting = ({ state }: ContainerStatus): boolean => state?.waiting?.reason !== undefined;

const startEvents = (name: string, image: string): PodEvent[] => [
  normal('Pulled', `Container image "${image}" already present on machine`),
  normal('Created', `Created container: ${name}`),
  normal('Started', `Started container ${name}`),
];
const backOffEvent = (name: string, { metadata }: StoredPod): PodEvent =>
  warning(
    'BackOff',
    `Back-off restarting failed container ${name} in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`,
  );
const crashedAgain = eachContainer((name, _, pod) => [backOffEvent(name, pod)]);
const crashedAtStart = eachContainer(
  (name, image, pod) => [...startEvents(name, image), backOffEvent(name, pod)],
  isWaiting,
);

const crash = (pod: StoredPod, now: string, _host: Host, { content }: PodSimulation): object =>
  crashed(pod, now, content);

/** What each action does: when, to the pod's status, and with which Events. Actions without a status act on the API. */
export const podActions: Readonly<Record<PodAction, Effect>> = {
  admit: { delayMs: after(20), status: admitted },
  start: {
    delayMs: starting,
    status: (pod, now, host, { behaviour, content }) => started(pod, now, host, behaviour !== 'never-ready', content),
    events: eachContainer(startEvents, isWaiting),
  },
  probe: {
    delayMs: atOnce,
    status: (pod, now) => ({
      conditions: ready(pod, now),
      ...withStatuses(pod, (each) => ({ ...each, ready: true })),
    }),
  },
  'fail-probe': {
    delayMs: atOnce,
    status: (pod, now) => ({
      conditions: notReady(pod, now),
      ...withStatuses(pod, (each) => ({ ...each, ready: false })),
    }),
    events: eachContainer(() => [warning('Unhealthy', 'Readiness probe failed: the simulated probe says no')]),
  },
  gate: { delayMs: inNextSync, status: (pod, now) => ({ conditions: ready(pod, now) }) },
  crash: {
    delayMs: starting,
    status: crash,
    events: (pod) => (statusesOf(pod).some(isWaiting) ? crashedAtStart(pod) : crashedAgain(pod)),
  },
  'crash-again': { delayMs: backingOff, status: crash, events: crashedAgain },
  die: { delayMs: dying, status: crash, events: crashedAgain },
  'fail-pull': {
    delayMs: starting,
    status: (pod) => pulling(pod, 'ErrImagePull', (image) => `failed to pull image "${image}": not found`),
    events: eachContainer(
      (_, image) => [
        normal('Pulling', `Pulling image "${image}"`),
        warning('Failed', `Failed to pull image "${image}": not found`),
        warning('Failed', 'Error: ErrImagePull'),
      ],
      isWaiting,
    ),
  },
  'back-off-pull': {
    delayMs: after(PULL_BACK_OFF_MS),
    status: (pod) =>
      pulling(pod, 'ImagePullBackOff', (image) => `Back-off pulling image "${image}": ErrImagePull: not found`),
    events: eachContainer(
      (_, image) => [
        normal('BackOff', `Back-off pulling image "${image}"`),
        warning('Failed', 'Error: ImagePullBackOff'),
      ],
      isWaiting,
    ),
  },
  'fail-start': {
    delayMs: starting,
    status: (pod, now) => failed(pod, now, (status) => notStarted(pod, status, now)),
    events: eachContainer((name, image) => [
      normal('Pulled', `Successfully pulled image "${image}"`),
      normal('Created', `Created container: ${name}`),
      warning('Failed', 'Error: StartError'),
    ]),
  },
  fail: { delayMs: dying, status: evicted, events: () => [warning(EVICTED.reason, EVICTED.message)] },
  'change-image': {
    delayMs: stopping,
    status: (pod, now) => ({
      conditions: notReady(pod, now),
      ...withStatuses(pod, (status) => stoppedForNewImage(pod, status, now)),
    }),
    events: eachContainer(
      (name) => [normal('Killing', `Container ${name} definition changed, will be restarted`)],
      (status, pod) => isOutdated(pod, status),
    ),
  },
  'begin-resize': { delayMs: inNextSync, status: (pod, now) => resizing(pod, now, 'in progress') },
  'refuse-resize': { delayMs: inNextSync, status: (pod, now, _, { resize }) => resizing(pod, now, resize) },
  resize: {
    delayMs: starting,
    status: (pod, now) => ({ ...resizing(pod, now), ...withStatuses(pod, (status) => resized(pod, status)) }),
  },
  'end-resize': { delayMs: inNextSync, status: (pod, now) => resizing(pod, now) },
  stop: {
    delayMs: stopping,
    status: stopped,
    events: eachContainer((name) => [normal('Killing', `Stopping container ${name}`)]),
  },
  'kill-node': { delayMs: dying },
  remove: { delayMs: atOnce },
};
