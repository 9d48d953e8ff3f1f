import type { Event, Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../embedded/index.ts';
import { daemonRollouts } from '../../controller/index.ts';
import { ifFound, nodes as nodeResource, pods as podResource } from '../../kube/index.ts';
import { toPodFacts } from '../../rollout/index.ts';
import { countsOf } from '../../view/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../words/index.ts';
import { type EventLine, emptySnapshot } from '../fleet/index.ts';
import { createAvailability } from './availability.ts';
import type { Environment } from './environment.ts';
import type { Observer, Part } from './parts/part.ts';

const SETTLE_MS = 10_000;
const EVENTS_KEPT = 100;
const NODE_REASONS = ['NodeNotReady', 'NodeReady'];

type WithConditions = { status?: { conditions?: { type: string; status: string }[] } };

export const isReady = ({ status }: WithConditions): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;

/** Observes one DaemonSet, its nodes and its pods in the API server, independently of the manager. */
export const createObserver = ({ cluster: { apiServer }, client, clock }: Environment, part: Part): Observer => {
  const { kind, eligible, daemonSet, share } = part;
  const { namespace, name } = daemonSet.metadata;
  const { app = '' } = daemonSet.spec?.selector?.matchLabels ?? {};
  const availability = createAvailability({ share, settleMs: SETTLE_MS, now: () => clock.now() });
  const events: EventLine[] = [];
  let changes = 0;

  const learnNode = (node: Node): void => availability.setNode(node.metadata?.name ?? '', isReady(node));
  const learnPod = (pod: Pod, type: Change['type']): void => {
    const { uid = '', labels, deletionTimestamp } = pod.metadata ?? {};
    if (labels?.app !== app) return;
    if (type === 'DELETED') {
      availability.removePod(uid);
      return;
    }
    const deleting = deletionTimestamp !== undefined;
    const image = pod.spec?.containers[0]?.image ?? '';
    const up = isReady(pod) && !deleting;
    availability.setPod({
      uid,
      name: pod.metadata?.name ?? '',
      node: toPodFacts(pod)?.node ?? '',
      image,
      up,
      deleting,
    });
  };
  const learnEvent = ({ involvedObject, reason = '', message = '', type }: Event): void => {
    const { kind: about, name: subject = '' } = involvedObject;
    const ofRollout = about === 'DaemonSet' && subject === name && reason !== 'SuccessfulCreate';
    const ofNode = about === 'Node' && NODE_REASONS.includes(reason) && eligible.includes(subject);
    if (!ofRollout && !ofNode) return;
    events.push({ reason, note: message, warning: type === 'Warning' });
    if (events.length > EVENTS_KEPT) events.shift();
  };

  for (const node of apiServer.list<Node>(nodeResource)) learnNode(node);
  const unsubscribe = apiServer.subscribe(({ type, resource, object }) => {
    if (resource.plural === 'nodes' && type !== 'DELETED') learnNode(object as Node);
    else if (resource.plural === 'pods') learnPod(object as unknown as Pod, type);
    // A repeated Event only increases its count.
    else if (resource.plural === 'events' && type === 'ADDED') learnEvent(object as unknown as Event);
    changes += 1;
  });

  const imageOn = (node: string): string => {
    const own = availability.pods().filter((pod) => pod.node === node);
    return (own.find((pod) => !pod.deleting) ?? own[0])?.image ?? '';
  };
  const status = (): DaemonRolloutStatus | undefined =>
    apiServer.find<DaemonRollout>(daemonRollouts, { namespace, name: kind.rolloutName(name) })?.status;

  return {
    availability,
    status,
    conditionHolds(type) {
      const { conditions = [], daemonSetGeneration } = status() ?? {};
      const generation = apiServer.find<typeof daemonSet>(kind.resource, { namespace, name })?.metadata.generation;
      return (
        daemonSetGeneration === generation &&
        conditions.some((condition) => condition.type === type && condition.status === 'True')
      );
    },
    podsOn: (node) =>
      apiServer
        .list<Pod>(podResource, { namespace, labelSelector: `app=${app}` })
        .filter((pod) => toPodFacts(pod)?.node === node),
    async snapshot() {
      const nodes = eligible.map((node) => ({ name: node, phase: undefined, image: imageOn(node) }));
      // Nothing is found before the first step creates the DaemonSet.
      const reading = await ifFound(kind.read({ client, clock, namespace, name, overrides: {} }));
      if (!reading) return { ...emptySnapshot, nodes, events };
      const phaseOf = (node: string) => reading.ledger.get(node)?.status.phase;
      const counts = countsOf(reading);
      const { startedAt, finishedAt } = reading.ledger.state;
      // Every node starts its first pod at once: the budget is for those that follow.
      const isFirst = startedAt === undefined && finishedAt === undefined;
      return {
        ...counts,
        ...(isFirst && { budget: emptySnapshot.budget }),
        nodes: nodes.map((node) => ({ ...node, phase: phaseOf(node.name) })),
        events,
      };
    },
    changes: () => changes,
    stop: unsubscribe,
  };
};
