import type { Container, Pod, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import {
  type ContainerSnapshot,
  gateCondition,
  hasGate,
  type InPlaceState,
  isStatusUpToDate,
  readInPlaceState,
  toEpochMs,
  toTimestamp,
  WHOLE_SECOND_MS,
} from '../../../rollout/index.ts';
import { gate, IN_PLACE_STATE } from '../../../words/index.ts';
import { type GatePatch, gatePatch } from '../podcontrol/readiness-gates.ts';
import { precondition } from '../podcontrol/write-guards.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { type InPlacePlan, updatableContainers } from './plan.ts';
import { effective, grants } from './resources.ts';
import { hasRestarted, inLaunchOrder, markOf, statusOf, unnoticedAt } from './state.ts';

/** Images by container or init container, labels and annotations; null removes one. */
export interface PodPatch {
  metadata: {
    uid: string | undefined;
    resourceVersion: string | undefined;
    labels?: Readonly<Record<string, string | null>>;
    annotations: Readonly<Record<string, string | null>>;
  };
  spec?: { [list in 'containers' | 'initContainers']?: readonly { name: string; image: string }[] };
}

/** The next step of the in-place update of a pod. */
export type InPlaceStep =
  /** Strategic merge patch of `pods/status` that closes or opens the gate. */
  | { kind: 'status'; body: GatePatch }
  /** Strategic merge patch of this version of the pod. */
  | { kind: 'pod'; body: PodPatch }
  /** Strategic merge patch of `pods/resize`. */
  | { kind: 'resize'; body: object }
  /** Wait for the kubelet. `until`: when time alone changes the step, epoch ms. */
  | { kind: 'wait'; why: string; until: number }
  /** The update can't be completed in place. */
  | { kind: 'stuck'; why: string }
  | { kind: 'done' };

export interface InPlaceInput {
  pod: Pod;
  /** Hash label of the target revision. */
  revision: string;
  /** From the pod's revision to the target; undefined if the pod carries the target's label. */
  plan: InPlacePlan | undefined;
  /** Resources of the target's containers. */
  resources: Readonly<Record<string, ResourceRequirements>>;
  /** Time between closing the gate and the update, so that traffic can drain. */
  graceMs: number;
  now: number;
}

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

const initContainerNames = (pod: Pod): ReadonlySet<string> =>
  new Set((pod.spec?.initContainers ?? []).map(({ name }) => name));

/** The containers and init containers of a patch; both lists merge by name. */
const inLists = <Fields extends object>(pod: Pod, containers: Readonly<Record<string, Fields>>) => {
  const initNames = initContainerNames(pod);
  const list = (which: boolean): (Fields & { name: string })[] =>
    Object.entries(containers)
      .filter(([name]) => initNames.has(name) === which)
      .map(([name, fields]) => ({ name, ...fields }));
  const [initContainers, plain] = [list(true), list(false)];
  return {
    ...(initContainers.length > 0 && { initContainers }),
    ...(plain.length > 0 && { containers: plain }),
  };
};

const imagesIn = (pod: Pod, images: Readonly<Record<string, string>>) =>
  inLists(pod, Object.fromEntries(Object.entries(images).map(([name, image]) => [name, { image }])));

const specOf = (pod: Pod, container: string): Container | undefined =>
  updatableContainers(pod.spec).find(({ name }) => name === container);

/** The state of the containers before the update. */
const marks = (pod: Pod, names: readonly string[]): InPlaceState['lastContainerStatuses'] =>
  Object.fromEntries(
    names.map((name) => {
      const { image } = specOf(pod, name) ?? {};
      return [name, { ...markOf(pod, name), ...(image !== undefined && { image }) }];
    }),
  );

/** When the container is known to run what it was updated to, epoch ms; a time in the past once it does. */
const updatedAt = (pod: Pod, state: InPlaceState, name: string, mark: ContainerSnapshot): number =>
  hasRestarted(pod, name, mark) ? 0 : unnoticedAt(pod, name, mark, toEpochMs(state.updateTimestamp));

/** What an unfinished earlier update has left: containers that have not restarted, and images not yet set. */
const unfinished = (pod: Pod, now: number): Pick<InPlaceState, 'lastContainerStatuses' | 'nextContainerImages'> => {
  const state = readInPlaceState(pod);
  if (!state || state.revision !== pod.metadata?.labels?.[HASH_LABEL])
    return { lastContainerStatuses: {}, nextContainerImages: {} };
  const { lastContainerStatuses, nextContainerImages } = state;
  const pending = Object.entries(lastContainerStatuses).filter(
    ([name, mark]) => now < updatedAt(pod, state, name, mark),
  );
  return { lastContainerStatuses: Object.fromEntries(pending), nextContainerImages };
};

/** Which images to set now and later, and which containers to wait for, including an unfinished earlier update. */
const planBatches = (pod: Pod, plan: InPlacePlan, now: number) => {
  const earlier = unfinished(pod, now);
  const restarting = earlier.lastContainerStatuses;
  const imageOf = (name: string): string => specOf(pod, name)?.image ?? '';
  const wanted: Readonly<Record<string, string>> = {
    ...earlier.nextContainerImages,
    ...Object.fromEntries(Object.keys(restarting).map((name) => [name, imageOf(name)])),
    ...plan.images,
  };
  const isPatched = (name: string): boolean => wanted[name] === imageOf(name);
  const needed = Object.entries(wanted).filter(([name]) => name in restarting || !isPatched(name));
  const [first = {}, ...rest] = inLaunchOrder(updatableContainers(pod.spec), Object.fromEntries(needed));
  const without = (images: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(images).filter(([name]) => !isPatched(name)));
  const batch = without(first);
  // The old container still runs: its mark stays valid.
  const kept = Object.entries(restarting).filter(
    ([name, mark]) => isPatched(name) || (name in batch && markOf(pod, name).containerID === mark.containerID),
  );
  return {
    batch,
    marked: { ...marks(pod, Object.keys(batch)), ...Object.fromEntries(kept) },
    later: without(Object.assign({}, ...rest) as Record<string, string>),
  };
};

const CLOCK_SLACK_MS = 2_000;

const isReported = (pod: Pod, type: string, status: 'True' | 'False'): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === type && condition.status === status) ?? false;

const resourcesOf = (pod: Pod, container: string): ResourceRequirements => specOf(pod, container)?.resources ?? {};

/** The resize that gives the pod the wanted amounts; undefined if it has them. */
export const resizePatch = (
  pod: Pod,
  wanted: InPlaceInput['resources'],
): Extract<InPlaceStep, { kind: 'resize' }> | undefined => {
  const differing = Object.entries(wanted).filter(([name, resources]) => !grants(resourcesOf(pod, name), resources));
  if (differing.length === 0) return undefined;
  const containers = Object.fromEntries(
    differing.map(([name, resources]) => [name, { resources: effective(resources) }]),
  );
  return { kind: 'resize', body: { metadata: precondition(pod), spec: inLists(pod, containers) } };
};

const begin = ({ pod, revision, resources, graceMs, now }: InPlaceInput, plan: InPlacePlan): InPlaceStep => {
  const disrupts = !isEmpty(plan.images) || !isEmpty(plan.resources);
  const condition = gateCondition(pod, gate.inPlace);
  const closedAt = toEpochMs(condition?.lastTransitionTime);
  // A gate that somebody closed without a time closes now: its waits need a beginning.
  if (disrupts && (condition?.status !== 'False' || closedAt === 0))
    return { kind: 'status', body: gatePatch(pod, [gate.inPlace], false, 'StartInPlaceUpdate', now) };
  if (disrupts && graceMs > 0) {
    const isFromOtherClock = closedAt > now + CLOCK_SLACK_MS;
    // A time in the future is from another machine's clock: start the grace period again, by our own clock.
    if (isFromOtherClock)
      return {
        kind: 'status',
        body: gatePatch({ ...pod, status: {} }, [gate.inPlace], false, 'StartInPlaceUpdate', now),
      };
    const until = closedAt + WHOLE_SECOND_MS + graceMs;
    if (now < until) return { kind: 'wait', why: 'its grace period has not passed', until };
  }
  // Before its label and images change: if the API server refuses the new amounts after all, the pod is as it was.
  const resize = disrupts ? resizePatch(pod, resources) : undefined;
  if (resize) return resize;
  const { batch, marked, later } = planBatches(pod, plan, now);
  const state: InPlaceState = {
    revision,
    updateTimestamp: toTimestamp(now),
    lastContainerStatuses: marked,
    nextContainerImages: later,
  };
  const body: PodPatch = {
    metadata: {
      ...precondition(pod),
      labels: { ...plan.labels, [HASH_LABEL]: revision },
      annotations: { ...plan.annotations, [IN_PLACE_STATE]: JSON.stringify(state) },
    },
    ...(!isEmpty(batch) && { spec: imagesIn(pod, batch) }),
  };
  return { kind: 'pod', body };
};

const nextBatch = (pod: Pod, state: InPlaceState, now: number): InPlaceStep => {
  const [batch = {}, ...later] = inLaunchOrder(updatableContainers(pod.spec), state.nextContainerImages);
  const next: InPlaceState = {
    ...state,
    updateTimestamp: toTimestamp(now),
    lastContainerStatuses: { ...state.lastContainerStatuses, ...marks(pod, Object.keys(batch)) },
    nextContainerImages: Object.assign({}, ...later) as Record<string, string>,
  };
  const annotations = { [IN_PLACE_STATE]: JSON.stringify(next) };
  return { kind: 'pod', body: { metadata: { ...precondition(pod), annotations }, spec: imagesIn(pod, batch) } };
};

const resizing = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'PodResizePending');

/**
 * Has the kubelet not yet seen the new amounts? Until then no condition refers to them, and the reported resources are the
 * old ones. A kubelet that reports the observed generation is trusted.
 */
const isBehind = (pod: Pod, wanted: InPlaceInput['resources']): boolean => {
  const ofNow = isStatusUpToDate(pod);
  if (ofNow !== undefined) return !ofNow;
  return Object.entries(wanted).some(([name, resources]) => {
    const status = statusOf(pod, name);
    return (
      status?.state?.running !== undefined && status.resources !== undefined && !grants(status.resources, resources)
    );
  });
};

const inProgress = (pod: Pod): boolean => isReported(pod, 'PodResizeInProgress', 'True');

const resizeStep = (pod: Pod, wanted: InPlaceInput['resources']): InPlaceStep | undefined => {
  const patch = resizePatch(pod, wanted);
  if (patch) return patch;
  const pending = resizing(pod);
  if (pending?.status === 'True')
    return pending.reason === 'Infeasible'
      ? { kind: 'stuck', why: pending.message ?? 'the node has no room for its new resources' }
      : { kind: 'wait', why: 'the node has no room yet for its new resources', until: Number.POSITIVE_INFINITY };
  return inProgress(pod) || isBehind(pod, wanted)
    ? { kind: 'wait', why: 'the kubelet is resizing its containers', until: Number.POSITIVE_INFINITY }
    : undefined;
};

/** Time for the kubelet to report, with its own write, that started containers are ready. */
const READY_SOON_MS = 2_000;

/** Until when the gate stays closed: opening it earlier would conflict with that write, and the pod isn't ready anyway. */
const closedUntil = (pod: Pod, state: InPlaceState | undefined): number => {
  if (!isReported(pod, 'ContainersReady', 'False') || !state) return 0;
  const starts = Object.keys(state.lastContainerStatuses).map((name) => Date.parse(markOf(pod, name).startedAt) || 0);
  return Math.max(0, ...starts) + READY_SOON_MS;
};

/**
 * Decides the next step from the pod alone, so a new leader continues where the previous one stopped, and no step is repeated.
 */
export const nextInPlaceStep = (input: InPlaceInput): InPlaceStep => {
  const { pod, revision, plan, resources, now } = input;
  if (pod.metadata?.labels?.[HASH_LABEL] !== revision)
    return plan ? begin(input, plan) : { kind: 'stuck', why: 'its revision is no longer known' };
  const state = readInPlaceState(pod);
  if (state?.revision === revision) {
    for (const [name, mark] of Object.entries(state.lastContainerStatuses)) {
      const until = updatedAt(pod, state, name, mark);
      if (now >= until) continue;
      const reason = statusOf(pod, name)?.state?.waiting?.reason;
      const why = `container ${name} has not restarted${reason === undefined ? '' : ` (${reason})`}`;
      return { kind: 'wait', why, until };
    }
    if (!isEmpty(state.nextContainerImages)) return nextBatch(pod, state, now);
  }
  const resize = resizeStep(pod, resources);
  if (resize) return resize;
  if (!hasGate(pod.spec, gate.inPlace) || gateCondition(pod, gate.inPlace)?.status === 'True') return { kind: 'done' };
  const until = closedUntil(pod, state);
  if (now < until) return { kind: 'wait', why: 'its containers are not ready yet', until };
  return { kind: 'status', body: gatePatch(pod, [gate.inPlace], true, 'Updated', now) };
};
