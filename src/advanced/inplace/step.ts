import type { Container, Pod, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import {
  type ContainerSnapshot,
  gate,
  gateCondition,
  hasGate,
  IN_PLACE_STATE,
  type InPlaceState,
  isStatusUpToDate,
  readInPlaceState,
  toTimestamp,
} from '../../rollout/index.ts';
import { type GatePatch, gatePatch } from '../podcontrol/readiness-gates.ts';
import { precondition } from '../podcontrol/write-guards.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { type InPlacePlan, updatableContainers } from './plan.ts';
import { effective, grants } from './resources.ts';
import { hasRestarted, inLaunchOrder, markOf, statusOf, unnoticedAt } from './state.ts';

/** The next write on the way of one pod to a revision, or what is waited for. */
export type InPlaceStep =
  /** Strategic merge patch of `pods/status`: shuts or opens the gate. */
  | { kind: 'status'; body: GatePatch }
  /** Strategic merge patch of the pod, with the resourceVersion that the decision was made on. */
  | { kind: 'pod'; body: object }
  /** Strategic merge patch of `pods/resize`. */
  | { kind: 'resize'; body: object }
  /** Nothing to write: the kubelet is at work. `until` in epoch ms when time alone changes that. */
  | { kind: 'wait'; why: string; until: number }
  /** The pod cannot get there while it runs. */
  | { kind: 'stuck'; why: string }
  | { kind: 'done' };

export interface InPlaceInput {
  pod: Pod;
  /** Hash label of the revision that the pod is brought to. */
  revision: string;
  /** From the pod's revision to that one; undefined when the pod carries the label already. */
  plan: InPlacePlan | undefined;
  /** The resources that the target's containers have; looked at once the pod carries the label. */
  resources: Readonly<Record<string, ResourceRequirements>>;
  /** Between the gate's closing and the change, for those who must notice it. */
  graceMs: number;
  now: number;
}

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

const sidecars = (pod: Pod): ReadonlySet<string> => new Set((pod.spec?.initContainers ?? []).map(({ name }) => name));

/** Containers of a patch, each in the list that it is of: both merge by name. */
const inLists = (pod: Pod, containers: Readonly<Record<string, object>>): object => {
  const beside = sidecars(pod);
  const list = (which: boolean): object[] =>
    Object.entries(containers)
      .filter(([name]) => beside.has(name) === which)
      .map(([name, fields]) => ({ name, ...fields }));
  const [initContainers, plain] = [list(true), list(false)];
  return {
    ...(initContainers.length > 0 && { initContainers }),
    ...(plain.length > 0 && { containers: plain }),
  };
};

const imagesIn = (pod: Pod, images: Readonly<Record<string, string>>): object =>
  inLists(pod, Object.fromEntries(Object.entries(images).map(([name, image]) => [name, { image }])));

const specOf = (pod: Pod, container: string): Container | undefined =>
  updatableContainers(pod.spec).find(({ name }) => name === container);

/** As they are before they are changed. */
const marks = (pod: Pod, names: readonly string[]): InPlaceState['lastContainerStatuses'] =>
  Object.fromEntries(
    names.map((name) => {
      const { image } = specOf(pod, name) ?? {};
      return [name, { ...markOf(pod, name), ...(image !== undefined && { image }) }];
    }),
  );

/** When the container is known to be what it was changed to; a time that is past once it is. */
const settledAt = (pod: Pod, state: InPlaceState, name: string, mark: ContainerSnapshot): number =>
  hasRestarted(pod, name, mark) ? 0 : unnoticedAt(pod, name, mark, Date.parse(state.updateTimestamp));

/** What an earlier change has left to do on the pod: its containers that have not started anew, and those it did not come to. */
const leftOver = (pod: Pod, now: number): Pick<InPlaceState, 'lastContainerStatuses' | 'nextContainerImages'> => {
  const state = readInPlaceState(pod);
  if (!state || state.revision !== pod.metadata?.labels?.[HASH_LABEL])
    return { lastContainerStatuses: {}, nextContainerImages: {} };
  const { lastContainerStatuses, nextContainerImages } = state;
  const open = Object.entries(lastContainerStatuses).filter(([name, mark]) => now < settledAt(pod, state, name, mark));
  return { lastContainerStatuses: Object.fromEntries(open), nextContainerImages };
};

/** What is exchanged now, what is waited for, and what comes later, an earlier change that did not come to its end included. */
const exchanges = (pod: Pod, plan: InPlacePlan, now: number) => {
  const left = leftOver(pod, now);
  const underWay = left.lastContainerStatuses;
  const imageOf = (name: string): string => specOf(pod, name)?.image ?? '';
  const wanted: Readonly<Record<string, string>> = {
    ...left.nextContainerImages,
    ...Object.fromEntries(Object.keys(underWay).map((name) => [name, imageOf(name)])),
    ...plan.images,
  };
  const isPatched = (name: string): boolean => wanted[name] === imageOf(name);
  const needed = Object.entries(wanted).filter(([name]) => name in underWay || !isPatched(name));
  const [first = {}, ...rest] = inLaunchOrder(updatableContainers(pod.spec), Object.fromEntries(needed));
  const without = (images: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(images).filter(([name]) => !isPatched(name)));
  const batch = without(first);
  // The container of before is still there: what it is not to be has not changed.
  const kept = Object.entries(underWay).filter(
    ([name, mark]) => isPatched(name) || (name in batch && markOf(pod, name).containerID === mark.containerID),
  );
  return {
    batch,
    marked: { ...marks(pod, Object.keys(batch)), ...Object.fromEntries(kept) },
    later: without(Object.assign({}, ...rest) as Record<string, string>),
  };
};

const CLOCK_SLACK_MS = 2_000;

const begin = ({ pod, revision, graceMs, now }: InPlaceInput, plan: InPlacePlan): InPlaceStep => {
  const disturbs = !isEmpty(plan.images) || !isEmpty(plan.resources);
  const condition = gateCondition(pod, gate.inPlace);
  if (disturbs && condition?.status !== 'False')
    return { kind: 'status', body: gatePatch(pod, [gate.inPlace], false, 'StartInPlaceUpdate', now) };
  const shutAt = Date.parse(condition?.lastTransitionTime ?? '');
  if (disturbs && graceMs > 0) {
    // Later than now it is by another machine's clock, which may be off by anything: the time begins anew, by ours.
    if (shutAt > now + CLOCK_SLACK_MS)
      return {
        kind: 'status',
        body: gatePatch({ ...pod, status: {} }, [gate.inPlace], false, 'StartInPlaceUpdate', now),
      };
    const until = shutAt + graceMs;
    if (now < until) return { kind: 'wait', why: 'its grace period is not over', until };
  }
  const { batch, marked, later } = exchanges(pod, plan, now);
  const state: InPlaceState = {
    revision,
    updateTimestamp: toTimestamp(now),
    lastContainerStatuses: marked,
    nextContainerImages: later,
  };
  const body = {
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

const resourcesOf = (pod: Pod, container: string): ResourceRequirements => specOf(pod, container)?.resources ?? {};

const resizing = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'PodResizePending');
/**
 * Before the kubelet has seen the new amounts there is no condition that speaks of them: what it reports is still by the
 * old ones. A kubelet that says which generation it has seen is believed.
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

const inProgress = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'PodResizeInProgress' && status === 'True') ?? false;

const resizeStep = (pod: Pod, wanted: InPlaceInput['resources']): InPlaceStep | undefined => {
  const differing = Object.entries(wanted).filter(([name, resources]) => !grants(resourcesOf(pod, name), resources));
  if (differing.length > 0) {
    const containers = Object.fromEntries(
      differing.map(([name, resources]) => [name, { resources: effective(resources) }]),
    );
    return { kind: 'resize', body: { metadata: precondition(pod), spec: inLists(pod, containers) } };
  }
  const pending = resizing(pod);
  if (pending?.status === 'True')
    return pending.reason === 'Infeasible'
      ? { kind: 'stuck', why: pending.message ?? 'the node has no room for its new resources' }
      : { kind: 'wait', why: 'the node has no room for its new resources yet', until: Number.POSITIVE_INFINITY };
  return inProgress(pod) || isBehind(pod, wanted)
    ? { kind: 'wait', why: 'the kubelet is changing its resources', until: Number.POSITIVE_INFINITY }
    : undefined;
};

/** After a start of theirs it takes the kubelet a moment, and a write of its own, to say that containers are ready. */
const READY_SOON_MS = 2_000;

/** Until when the gate stays shut for that: of two writes at once one is refused, and a pod that is not ready misses nothing. */
const shutUntil = (pod: Pod, state: InPlaceState | undefined): number => {
  const isUnready = pod.status?.conditions?.some(
    ({ type, status }) => type === 'ContainersReady' && status === 'False',
  );
  if (!isUnready || !state) return 0;
  const starts = Object.keys(state.lastContainerStatuses).map((name) => Date.parse(markOf(pod, name).startedAt) || 0);
  return Math.max(0, ...starts) + READY_SOON_MS;
};

/**
 * Decides the next step from what the pod shows alone: whoever leads after a crash goes on at the same place, and a step
 * that was carried out already is not taken again.
 */
export const nextInPlaceStep = (input: InPlaceInput): InPlaceStep => {
  const { pod, revision, plan, resources, now } = input;
  if (pod.metadata?.labels?.[HASH_LABEL] !== revision)
    return plan ? begin(input, plan) : { kind: 'stuck', why: 'its revision is not known any more' };
  const state = readInPlaceState(pod);
  if (state?.revision === revision) {
    for (const [name, mark] of Object.entries(state.lastContainerStatuses)) {
      const until = settledAt(pod, state, name, mark);
      if (now >= until) continue;
      const reason = statusOf(pod, name)?.state?.waiting?.reason;
      const why = `container ${name} has not started anew${reason === undefined ? '' : ` (${reason})`}`;
      return { kind: 'wait', why, until };
    }
    if (!isEmpty(state.nextContainerImages)) return nextBatch(pod, state, now);
  }
  const resize = resizeStep(pod, resources);
  if (resize) return resize;
  if (!hasGate(pod.spec, gate.inPlace) || gateCondition(pod, gate.inPlace)?.status === 'True') return { kind: 'done' };
  const until = shutUntil(pod, state);
  if (now < until) return { kind: 'wait', why: 'its containers are not ready yet', until };
  return { kind: 'status', body: gatePatch(pod, [gate.inPlace], true, 'Updated', now) };
};
