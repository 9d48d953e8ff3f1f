import { backoffMs } from '../../runtime/index.ts';
import type { StoredPod } from '../resources.ts';
import type { Behaviour, PodSimulation, ResizeResult } from './behaviour.ts';
import { isOutdated, isResized, statusesOf } from './containers.ts';

/** What a kubelet does with a pod next. */
export type PodAction =
  | 'admit'
  | 'start'
  | 'probe'
  | 'fail-probe'
  | 'crash'
  | 'crash-again'
  | 'die'
  | 'fail-pull'
  | 'back-off-pull'
  | 'fail-start'
  | 'fail'
  | 'kill-node'
  | 'change-image'
  | 'gate'
  | 'begin-resize'
  | 'resize'
  | 'refuse-resize'
  | 'end-resize'
  | 'stop'
  | 'remove';

const conditionIs = ({ status }: StoredPod, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** All readiness gates of the pod are open. */
export const readinessGatesPass = (pod: StoredPod): boolean =>
  (pod.spec?.readinessGates ?? []).every(({ conditionType }) => conditionIs(pod, conditionType));

const ofEnding = (pod: StoredPod, behaviour: Behaviour): PodAction | undefined => {
  if (behaviour === 'stuck-terminating') return undefined;
  const statuses = statusesOf(pod);
  const ended = statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined);
  if (!ended) return 'stop';
  return (pod.metadata.deletionGracePeriodSeconds ?? 0) > 0 ? 'remove' : undefined;
};

/** No image has a program there; a container that is to run it is made of its image, and does not start. */
const NOWHERE = '/edgeset.io/';

const cannotStart = ({ spec }: StoredPod): boolean =>
  spec?.restartPolicy === 'Never' && spec.containers.every(({ command }) => command?.[0]?.startsWith(NOWHERE) ?? false);

const ofWaiting = (pod: StoredPod, reasons: readonly string[], behaviour: Behaviour): PodAction | undefined => {
  if (behaviour === 'not-pullable') {
    if (reasons.includes('ImagePullBackOff')) return undefined;
    return reasons.includes('ErrImagePull') ? 'back-off-pull' : 'fail-pull';
  }
  if (cannotStart(pod)) return 'fail-start';
  const crashed = reasons.includes('CrashLoopBackOff');
  if (crashed && (behaviour === 'crash-loop' || behaviour === 'dies-after-ready')) return 'crash-again';
  return behaviour === 'crash-loop' ? 'crash' : 'start';
};

/** What a pod that serves comes to in the end. */
const END_OF: Partial<Record<Behaviour, PodAction>> = {
  'dies-after-ready': 'die',
  failed: 'fail',
  'kills-node': 'kill-node',
};

const ofRunning = (pod: StoredPod, behaviour: Behaviour): PodAction | undefined => {
  const statuses = statusesOf(pod);
  const ready = conditionIs(pod, 'Ready');
  if (behaviour === 'crash-loop') return 'crash';
  if (behaviour === 'never-ready') return ready || statuses.some((status) => status.ready) ? 'fail-probe' : undefined;
  if (statuses.some((status) => !status.ready)) return 'probe';
  if (ready !== readinessGatesPass(pod)) return conditionIs(pod, 'ContainersReady') ? 'gate' : 'probe';
  return END_OF[behaviour];
};

const RESIZING = ['PodResizePending', 'PodResizeInProgress'] as const;

/** What new amounts in the spec come to. */
const ofResources = (pod: StoredPod, resizing: ResizeResult): PodAction | undefined => {
  if (!statusesOf(pod).some((status) => isResized(pod, status)))
    return RESIZING.some((type) => conditionIs(pod, type)) ? 'end-resize' : undefined;
  if (resizing !== 'granted') return conditionIs(pod, 'PodResizePending') ? undefined : 'refuse-resize';
  return conditionIs(pod, 'PodResizeInProgress') ? 'resize' : 'begin-resize';
};

/** A simulated kubelet's whole judgement: what is due for a pod that is as it is. Undefined: it rests. */
export const nextAction = (
  pod: StoredPod,
  behaviour: Behaviour,
  resizing: ResizeResult = 'granted',
): PodAction | undefined => {
  if (pod.metadata.deletionTimestamp != null) return ofEnding(pod, behaviour);
  const phase = pod.status?.phase;
  if (phase === 'Failed' || phase === 'Succeeded') return undefined;
  const statuses = statusesOf(pod);
  if (statuses.length === 0) return 'admit';
  if (statuses.some((status) => isOutdated(pod, status))) return 'change-image';
  const reasons = statuses.flatMap(({ state }) => state?.waiting?.reason ?? []);
  if (reasons.length > 0) return ofWaiting(pod, reasons, behaviour);
  return ofResources(pod, resizing) ?? ofRunning(pod, behaviour);
};

const ADMIT_MS = 20;
const PULL_BACK_OFF_MS = 500;
/** A kubelet looks at what others say of a pod when it gets round to it. */
const NOTICE_MS = 100;
/** The longest back-off of a container that keeps crashing, as a multiple of the first. */
const LONGEST_BACK_OFF = 64;

/** How long the step takes, or waits. `spread` in [0, 1) is the pod's own. */
export const actionDelay = (step: PodAction, pod: StoredPod, fate: PodSimulation, spread: number): number => {
  const restarts = Math.max(0, ...statusesOf(pod).map(({ restartCount }) => restartCount));
  switch (step) {
    case 'admit':
      return ADMIT_MS;
    case 'start':
    case 'crash':
    case 'fail-pull':
    case 'fail-start':
      return fate.startMs * (1 + spread / 2);
    case 'stop':
    case 'change-image':
      return fate.stopMs * (1 + spread / 2);
    case 'crash-again':
      return backoffMs(restarts, { baseMs: fate.backOffMs, maxMs: fate.backOffMs * LONGEST_BACK_OFF });
    case 'die':
    case 'fail':
    case 'kill-node':
      return fate.dieMs;
    case 'back-off-pull':
      return PULL_BACK_OFF_MS;
    case 'resize':
      return fate.startMs * (1 + spread / 2);
    case 'gate':
    case 'begin-resize':
    case 'refuse-resize':
    case 'end-resize':
      return NOTICE_MS;
    case 'probe':
    case 'fail-probe':
    case 'remove':
      return 0;
  }
};
