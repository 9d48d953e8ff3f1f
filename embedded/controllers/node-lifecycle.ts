import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { NodeCondition, Taint } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, leases, nodes, pods } from '../../src/kube/index.ts';
import type { Env } from '../../src/runtime/index.ts';
import { type Stored, type StoredNode, toTime, updateStatus } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { createEventRecorder, involvedObject } from './events.ts';
import { createPodsByNode } from './indexes.ts';
import { type Controller, createInformers, type InformerEvent } from './informers.ts';
import { conditionTaints, NODE_LEASES, withTaints } from './taints.ts';
import { createTimerQueue } from './timer-queue.ts';
import { createWorkQueue } from './work-queue.ts';

export interface NodeLifecycleOptions {
  apiServer: ApiServer;
  env: Env;
  /** A node is unreachable after its kubelet was silent for this long, in milliseconds. */
  graceMs: number;
}

// The eviction rate of a healthy zone: one node gets the NoExecute taint per interval.
const EVICTION_PACE_MS = 10_000;

const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const statusOf = (node: StoredNode, type: string): string | undefined =>
  node.status?.conditions?.find((condition) => condition.type === type)?.status;

/** The conditions of a node whose kubelet stopped posting. */
const unknownConditions = ({ status, metadata }: StoredNode, now: string): object[] => {
  const present = status?.conditions ?? [];
  const unknown = (type: string): object => {
    const before = present.find((condition) => condition.type === type);
    if (!before)
      return {
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: metadata.creationTimestamp,
        lastTransitionTime: now,
      };
    return {
      ...before,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: before.status === 'Unknown' ? before.lastTransitionTime : now,
    };
  };
  const others = present.filter(({ type }) => !KUBELET_CONDITIONS.includes(type));
  return [...others, ...KUBELET_CONDITIONS.map(unknown)];
};

/**
 * The node lifecycle controller: marks nodes without heartbeats as Unknown, taints nodes by their conditions, and marks
 * the pods of nodes that aren't ready. It has no full-disruption mode: if all nodes are lost at once, each is treated
 * as lost.
 */
export const createNodeLifecycleController = ({ apiServer, env, graceMs }: NodeLifecycleOptions): Controller => {
  const { clock } = env;
  const informers = createInformers(apiServer, clock);
  const recorder = createEventRecorder(apiServer, clock, 'node-controller');
  const known = new Map<string, StoredNode>();
  const heartbeatAt = new Map<string, number>();
  const podsOn = createPodsByNode(informers);

  const silenceTimers = createTimerQueue(clock, (name) => {
    const node = known.get(name);
    if (!node) return;
    const until = (heartbeatAt.get(name) ?? 0) + graceMs;
    if (until > clock.now()) silenceTimers.set(name, until);
    else if (statusOf(node, 'Ready') !== 'Unknown') lost.add(name);
  });
  const recordHeartbeat = (name: string): void => {
    // The timer is moved when it fires, which keeps heartbeats cheap.
    heartbeatAt.set(name, clock.now());
    if (known.has(name) && statusOf(known.get(name) as StoredNode, 'Ready') === 'Unknown')
      silenceTimers.set(name, clock.now() + graceMs);
  };

  const markPods = (name: string): void => {
    for (const pod of podsOn(name)) {
      const conditions = pod.status?.conditions ?? [];
      if (!conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) continue;
      const lastTransitionTime = toTime(clock.now());
      const next = conditions.map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
      );
      try {
        updateStatus(apiServer, pods, pod, { conditions: next });
        recorder.record(involvedObject(pod), 'Warning', 'NodeNotReady', 'Node is not ready');
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) throw error;
      }
    }
  };

  const lost = createWorkQueue({
    env,
    name: 'node-health',
    informers,
    process(name) {
      const node = known.get(name);
      if (!node || statusOf(node, 'Ready') === 'Unknown' || (heartbeatAt.get(name) ?? 0) + graceMs > clock.now())
        return;
      const wasReady = statusOf(node, 'Ready') === 'True';
      updateStatus(apiServer, nodes, node, { conditions: unknownConditions(node, toTime(clock.now())) });
      if (!wasReady) return;
      markPods(name);
      recorder.record(
        { ...involvedObject(node), metadata: { name, uid: name } },
        'Normal',
        'NodeNotReady',
        `Node ${name} status is now: NodeNotReady`,
      );
    },
  });

  const setTaints = (node: StoredNode, effect: Taint['effect'], wanted: readonly string[]): void => {
    const taints = withTaints(node.spec?.taints ?? [], effect, wanted, toTime(clock.now()));
    if (taints) apiServer.update<object>(nodes, { ...node, spec: { ...node.spec, taints } });
  };
  const taint = createWorkQueue({
    env,
    name: 'node-taints',
    informers,
    process(name) {
      const node = known.get(name);
      if (!node) return;
      setTaints(node, 'NoSchedule', conditionTaints(node.status?.conditions ?? [], node.spec?.unschedulable === true));
      // Only for nodes that report not ready themselves. The pods of silent nodes are marked when the silenceTimers is
      // detected.
      if (statusOf(node, 'Ready') === 'False') markPods(name);
    },
  });

  const evicting = new Set<string>();
  let nextEvictionAt = 0;
  let paced = false;
  const readyTaint = (node: StoredNode): string[] =>
    conditionTaints(node.status?.conditions?.filter(({ type }) => type === 'Ready') ?? [], false);
  const evictNext = (): void => {
    paced = false;
    const [name] = evicting;
    if (name === undefined) return;
    evicting.delete(name);
    nextEvictionAt = clock.now() + EVICTION_PACE_MS;
    evict.add(name);
    paceEvictions();
  };
  const paceEvictions = (): void => {
    if (paced || evicting.size === 0) return;
    paced = true;
    clock.timer(Math.max(0, nextEvictionAt - clock.now()), evictNext);
  };
  const evict = createWorkQueue({
    env,
    name: 'node-evictions',
    informers,
    process(name) {
      const node = known.get(name);
      if (node) setTaints(node, 'NoExecute', readyTaint(node));
    },
  });

  const sameReady = (a: NodeCondition[] = [], b: NodeCondition[] = []): boolean => {
    const text = (conditions: NodeCondition[]): string => conditions.map(({ type, status }) => type + status).join();
    return text(a) === text(b);
  };
  informers.addHandler(nodes, ({ type, object, previous }: InformerEvent<StoredNode>) => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      known.delete(name);
      heartbeatAt.delete(name);
      evicting.delete(name);
      silenceTimers.delete(name);
      return;
    }
    known.set(name, object);
    if (type === 'ADDED' || !heartbeatAt.has(name)) {
      heartbeatAt.set(name, clock.now());
      silenceTimers.set(name, clock.now() + graceMs);
    }
    const before = previous?.status?.conditions;
    const now = object.status?.conditions;
    if (
      type === 'ADDED' ||
      !sameReady(before, now) ||
      previous?.spec?.unschedulable !== object.spec?.unschedulable ||
      previous?.spec?.taints?.length !== object.spec?.taints?.length
    )
      taint.add(name);
    const ready = statusOf(object, 'Ready');
    if (ready === 'True' || ready === undefined) {
      evicting.delete(name);
      if (
        object.spec?.taints?.some(({ effect, key }) => effect === 'NoExecute' && key.startsWith('node.kubernetes.io/'))
      )
        evict.add(name);
    } else if (!sameReady(before, now)) {
      evicting.add(name);
      paceEvictions();
    }
    if (ready === 'True' && previous && statusOf(previous, 'Ready') !== 'True') recordHeartbeat(name);
    if (ready === 'True' && previous && statusOf(previous, 'Ready') === 'Unknown')
      silenceTimers.set(name, clock.now() + graceMs);
  });
  informers.addHandler(leases, ({ type, object }: InformerEvent<Stored<Lease>>) => {
    if (type !== 'DELETED' && object.metadata.namespace === NODE_LEASES) recordHeartbeat(object.metadata.name);
  });
  return informers;
};
