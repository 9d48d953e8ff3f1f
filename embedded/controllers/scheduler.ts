import { pods } from '../../src/kube/index.ts';
import { nodeShouldRunDaemonPod, type SchedulingConstraints, schedulingConstraints } from '../../src/rollout/index.ts';
import type { Env } from '../../src/runtime/index.ts';
import { createGroupedMap } from '../grouped-map.ts';
import { type StoredPod, toTime, updateStatus, withCondition } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { nodeOf } from './daemonset/index.ts';
import { createEventRecorder, involvedObject } from './events.ts';
import { createNodeInfos, createPodsByNode } from './indexes.ts';
import { type Controller, createInformers, type InformerEvent } from './informers.ts';
import { createWorkQueue } from './work-queue.ts';

const NAME = 'default-scheduler';

const needsScheduling = ({ spec, metadata, status }: StoredPod): boolean =>
  !spec?.nodeName &&
  (spec?.schedulerName ?? NAME) === NAME &&
  (spec?.schedulingGates ?? []).length === 0 &&
  metadata.deletionTimestamp == null &&
  status?.phase !== 'Failed' &&
  status?.phase !== 'Succeeded';

const isFinished = ({ status }: StoredPod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

/** The host ports of a pod, by protocol and address. */
const hostPortsOf = ({ spec }: StoredPod): string[] =>
  [
    ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
    ...(spec?.containers ?? []),
  ]
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort, protocol = 'TCP', hostIP = '' }) => (hostPort ? [`${protocol} ${hostIP}:${hostPort}`] : []));

/** Only the pod's own tolerations: its pods already carry what a DaemonSet adds. */
const needsOf = ({ spec }: StoredPod): SchedulingConstraints => {
  const needs = schedulingConstraints(spec ?? { containers: [] });
  return { ...needs, nodeName: '', tolerations: spec?.tolerations ?? [] };
};

/** The scheduler: binds a pod to the node that its affinity names, or else to the next node that fits. */
export const createScheduler = (apiServer: ApiServer, env: Env): Controller => {
  const { clock } = env;
  const informers = createInformers(apiServer, clock);
  const recorder = createEventRecorder(apiServer, clock, NAME);
  const waiting = new Map<string, StoredPod>();
  /** Waiting pods by the one node that they can run on, or by '' for any node. */
  const waitingFor = createGroupedMap<StoredPod>();
  const boundTo = createPodsByNode(informers);
  let cursor = 0;

  const scheduledCondition = (fields: object): { type: string; [field: string]: unknown } => ({
    type: 'PodScheduled',
    ...fields,
    lastProbeTime: null,
    lastTransitionTime: toTime(clock.now()),
  });

  const bind = (pod: StoredPod, node: string): void => {
    const { name, namespace } = pod.metadata;
    const conditions = withCondition(pod, scheduledCondition({ status: 'True' }));
    const bound = { ...pod, spec: { ...pod.spec, nodeName: node }, status: { ...pod.status, conditions } };
    apiServer.update<object>(pods, bound, { subresource: 'binding' });
    recorder.record(
      involvedObject(pod),
      'Normal',
      'Scheduled',
      `Successfully assigned ${namespace}/${name} to ${node}`,
    );
  };

  const portsAreTaken = (pod: StoredPod, node: string): boolean => {
    const wanted = new Set(hostPortsOf(pod));
    if (wanted.size === 0) return false;
    return boundTo(node).some((other) => !isFinished(other) && hostPortsOf(other).some((port) => wanted.has(port)));
  };

  const markUnschedulable = (pod: StoredPod, why: string): void => {
    const message = `0/${nodeInfos.size} nodes are available: ${why}.`;
    if (pod.status?.conditions?.some((each) => each.type === 'PodScheduled' && each.message === message)) return;
    const condition = scheduledCondition({ status: 'False', reason: 'Unschedulable', message });
    updateStatus(apiServer, pods, pod, { conditions: withCondition(pod, condition) });
    recorder.record(involvedObject(pod), 'Warning', 'FailedScheduling', message);
  };

  /** Round robin over the nodes that fit, so that pods spread. */
  const selectNode = (pod: StoredPod, needs: SchedulingConstraints): string | undefined => {
    const all = [...nodeInfos.values()];
    for (let step = 0; step < all.length; step += 1) {
      const node = all[(cursor + step) % all.length];
      if (!node || !nodeShouldRunDaemonPod(needs, node).shouldRun || portsAreTaken(pod, node.name)) continue;
      cursor += step + 1;
      return node.name;
    }
    return undefined;
  };

  const queue = createWorkQueue({
    env,
    name: 'scheduler',
    informers,
    process(key) {
      const pod = waiting.get(key);
      if (!pod) return;
      const needs = needsOf(pod);
      const wanted = nodeOf(pod);
      const view = nodeInfos.get(wanted);
      const node =
        wanted === ''
          ? selectNode(pod, needs)
          : view && nodeShouldRunDaemonPod(needs, view).shouldRun
            ? wanted
            : undefined;
      if (node === undefined)
        markUnschedulable(pod, "none fits the pod's node affinity, node selector and tolerations");
      else if (portsAreTaken(pod, node))
        markUnschedulable(pod, "1 node(s) didn't have free ports for the requested pod ports");
      else bind(pod, node);
    },
  });

  const enqueueFor = (node: string): void => {
    for (const key of [...waitingFor.get(node).keys(), ...waitingFor.get('').keys()]) queue.add(key);
  };
  const nodeInfos = createNodeInfos(informers, ({ name }) => enqueueFor(name));
  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if ((type === 'DELETED' || isFinished(object)) && hostPortsOf(object).length > 0) enqueueFor(nodeOf(object));
    const before = waiting.get(key);
    if (type !== 'DELETED' && needsScheduling(object)) {
      waiting.set(key, object);
      if (waitingFor.get(nodeOf(object)).has(key)) return;
      waitingFor.set(nodeOf(object), key, object);
      queue.add(key);
    } else if (before) {
      waiting.delete(key);
      waitingFor.delete(nodeOf(before), key);
    }
  });
  return informers;
};
