import type { StoredPod } from '../resources.ts';
import type { Behaviour, ResizeResult } from './behaviour.ts';
import { isOutdated, isResized, statusesOf } from './containers.ts';

/** A kubelet's next action for a pod. */
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

/** Whether all readiness gates of the pod are true. */
export const readinessGatesPass = (pod: StoredPod): boolean =>
  (pod.spec?.readinessGates ?? []).every(({ conditionType }) => conditionIs(pod, conditionType));

const whenTerminating = (pod: StoredPod, behaviour: Behaviour): PodAction | undefined => {
  if (behaviour === 'stuck-terminating') return undefined;
  const statuses = statusesOf(pod);
  const ended = statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined);
  if (!ended) return 'stop';
  return (pod.metadata.deletionGracePeriodSeconds ?? 0) > 0 ? 'remove' : undefined;
};

/** No image has a program under this path: such a container is pulled and created, and fails to start. */
const NOWHERE = '/edgeset.io/';

const cannotStart = ({ spec }: StoredPod): boolean =>
  spec?.restartPolicy === 'Never' && spec.containers.every(({ command }) => command?.[0]?.startsWith(NOWHERE) ?? false);

const whenWaiting = (pod: StoredPod, reasons: readonly string[], behaviour: Behaviour): PodAction | undefined => {
  if (behaviour === 'not-pullable') {
    if (reasons.includes('ImagePullBackOff')) return undefined;
    return reasons.includes('ErrImagePull') ? 'back-off-pull' : 'fail-pull';
  }
  if (cannotStart(pod)) return 'fail-start';
  const crashed = reasons.includes('CrashLoopBackOff');
  if (crashed && (behaviour === 'crash-loop' || behaviour === 'dies-after-ready')) return 'crash-again';
  return behaviour === 'crash-loop' ? 'crash' : 'start';
};

/** How a running pod ends, by behaviour. */
const END_OF: Partial<Record<Behaviour, PodAction>> = {
  'dies-after-ready': 'die',
  failed: 'fail',
  'kills-node': 'kill-node',
};

const whenRunning = (pod: StoredPod, behaviour: Behaviour): PodAction | undefined => {
  const statuses = statusesOf(pod);
  const ready = conditionIs(pod, 'Ready');
  if (behaviour === 'crash-loop') return 'crash';
  if (behaviour === 'never-ready') return ready || statuses.some((status) => status.ready) ? 'fail-probe' : undefined;
  if (statuses.some((status) => !status.ready)) return 'probe';
  if (ready !== readinessGatesPass(pod)) return conditionIs(pod, 'ContainersReady') ? 'gate' : 'probe';
  return END_OF[behaviour];
};

const RESIZING = ['PodResizePending', 'PodResizeInProgress'] as const;

/** The next action of an in-place resize. */
const whenResizing = (pod: StoredPod, resizing: ResizeResult): PodAction | undefined => {
  if (!statusesOf(pod).some((status) => isResized(pod, status)))
    return RESIZING.some((type) => conditionIs(pod, type)) ? 'end-resize' : undefined;
  if (resizing !== 'granted') return conditionIs(pod, 'PodResizePending') ? undefined : 'refuse-resize';
  return conditionIs(pod, 'PodResizeInProgress') ? 'resize' : 'begin-resize';
};

/** The action that is due for a pod in its current state; undefined when there is none. */
export const nextAction = (
  pod: StoredPod,
  behaviour: Behaviour,
  resizing: ResizeResult = 'granted',
): PodAction | undefined => {
  if (pod.metadata.deletionTimestamp != null) return whenTerminating(pod, behaviour);
  const phase = pod.status?.phase;
  if (phase === 'Failed' || phase === 'Succeeded') return undefined;
  const statuses = statusesOf(pod);
  if (statuses.length === 0) return 'admit';
  if (statuses.some((status) => isOutdated(pod, status))) return 'change-image';
  const reasons = statuses.flatMap(({ state }) => state?.waiting?.reason ?? []);
  if (reasons.length > 0) return whenWaiting(pod, reasons, behaviour);
  return whenResizing(pod, resizing) ?? whenRunning(pod, behaviour);
};
