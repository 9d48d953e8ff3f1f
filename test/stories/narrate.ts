import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Event, Node, Pod, PodCondition } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../embedded/index.ts';
import { type DaemonRollout, ownKey } from '../../src/words/index.ts';

interface Conditioned {
  status?: { conditions?: readonly Pick<PodCondition, 'type' | 'status'>[] };
}

const has = (object: Conditioned | undefined, what: string): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === what && status === 'True') ?? false;
const isReady = (object: Conditioned | undefined): boolean => has(object, 'Ready');

/** What owners and their agents go by, on the pod. */
const ANNOUNCED = { PodNeedUpgrade: 'an update is announced', UpgradeApproved: 'the owner has approved' };

/** Of changes of one object: what a person would say. */
type Narrator = (now: never, before: never, type: Change['type']) => readonly string[];

const imageOf = ({ spec }: Pod): string => spec?.containers[0]?.image ?? '';

/** The DaemonSet controller binds a pod to its node by its affinity. */
const nodeOf = ({ spec }: Pod): string => {
  const [term] = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return spec?.nodeName ?? term?.matchFields?.[0]?.values?.[0] ?? 'nowhere';
};

const pod = (now: Pod, before: Pod | undefined, type: Change['type']): string[] => {
  const isPull = now.metadata?.labels?.[ownKey.pullPod] !== undefined;
  const subject = `${nodeOf(now)}: the ${isPull ? 'pull pod' : 'pod'} of ${imageOf(before ?? now)}`;
  if (type === 'ADDED') return [`${subject} is created`];
  if (type === 'DELETED') return [`${subject} is gone`];
  return [
    imageOf(now) !== imageOf(before ?? now) && `${subject} is changed in place to ${imageOf(now)}`,
    now.metadata?.deletionTimestamp && !before?.metadata?.deletionTimestamp && `${subject} terminates`,
    isReady(now) !== isReady(before) && `${subject} is ${isReady(now) ? 'ready' : 'not ready'}`,
    ...Object.entries(ANNOUNCED).map(([what, said]) => has(now, what) && !has(before, what) && `${subject}: ${said}`),
  ].filter((line) => typeof line === 'string');
};

const node = (now: Node, before: Node | undefined, type: Change['type']): string[] => {
  const name = now.metadata?.name ?? '';
  if (type === 'DELETED') return [`${name} is deleted`];
  if (isReady(now) === isReady(before)) return [];
  return [`${name} is ${isReady(now) ? 'online' : 'offline'}`];
};

const lease = (now: Lease, before: Lease | undefined): string[] => {
  const holder = now.spec?.holderIdentity;
  if (now.metadata?.namespace === 'kube-node-lease') return [];
  return holder === before?.spec?.holderIdentity ? [] : [holder ? `${holder} leads` : 'nobody leads'];
};

const names = (list: readonly { node: string }[] | undefined): string =>
  list?.map((each) => each.node).join(', ') ?? '';

/** Others say the same in other words. */
const CONDITIONS = new Set(['Complete', 'Halted', 'Paused', 'Stalled']);

const rollout = (
  { status: now, metadata }: DaemonRollout,
  before: DaemonRollout | undefined,
  type: Change['type'],
): string[] => {
  if (type === 'DELETED') return [`the rollout of ${metadata.name} is deleted`];
  const was = before?.status;
  const stages = (now?.stages ?? []).flatMap(({ name, state, promotion }) => {
    const old = was?.stages?.find((stage) => stage.name === name)?.state;
    return old === state ? [] : [`stage ${name} is ${state}${promotion ? ` (${promotion})` : ''}`];
  });
  const conditions = (now?.conditions ?? []).flatMap(({ type: what, status, reason, message }) => {
    const old = was?.conditions?.find((condition) => condition.type === what);
    const isNews = old ? old.status !== status || old.reason !== reason : status === 'True';
    return !isNews || !CONDITIONS.has(what) ? [] : [`${what} is ${status}, ${reason}: ${message}`];
  });
  return [
    names(now?.reservations) !== names(was?.reservations) && `slots: ${names(now?.reservations) || 'none'}`,
    ...stages,
    ...conditions,
  ].filter((line) => typeof line === 'string');
};

const event = ({ type, reason, message }: Event): string[] => [`${type} Event ${reason}: ${message}`];

const narrators: Readonly<Record<string, Narrator>> = {
  pods: pod,
  nodes: node,
  leases: lease,
  daemonrollouts: rollout,
  events: event,
};

/** Names that the API server makes up. */
const POD_NAME = /\bpods? app-[a-z0-9]{5}\b/g;

/** What of a change belongs into a story. */
export const narrate = ({ type, resource, object, previous }: Change): readonly string[] =>
  (narrators[resource.plural]?.(object as never, previous as never, type) ?? []).map((line) =>
    line.replaceAll('\n', ' ').replaceAll(POD_NAME, 'a pod'),
  );
