import { controllerRevisions, pods } from '../../../src/kube/index.ts';
import { controllerOf, fromLabelSelector, matches, type NodeInfo } from '../../../src/rollout/index.ts';
import type { Env } from '../../../src/runtime/index.ts';
import type { StoredDaemonSet, StoredPod, StoredRevision } from '../../resources.ts';
import type { ApiServer } from '../../types.ts';
import { createEventRecorder, involvedObject } from '../events.ts';
import { type Controller, createInformers, type InformerEvent } from '../informers.ts';
import { createWorkQueue } from '../work-queue.ts';
import { claimObjects } from './controller-ref-manager.ts';
import { createHistoryManager } from './history.ts';
import { createListers } from './listers.ts';
import { createFailedPodBackOff, groupByNode, type HandleFinishedPod, manage, type Observed } from './manage.ts';
import { isReady } from './pods.ts';
import { rollingUpdate } from './rolling-update.ts';
import { createSpecCache, isOnDelete } from './spec.ts';
import { countNodes, storeStatus } from './status.ts';
import { createExpectations, syncNodes } from './sync-nodes.ts';

// A sync of the real controller takes some milliseconds, and longer with more nodes; changes in the meantime are
// handled by the next one.
const SYNC_MS = 10;
const SYNC_MS_PER_NODE = 0.01;

const keyOf = ({ metadata }: StoredDaemonSet): string => `${metadata.namespace}/${metadata.name}`;

/** The DaemonSet controller of Kubernetes 1.34. */
export const createDaemonSetController = (apiServer: ApiServer, env: Env): Controller => {
  const { clock } = env;
  const informers = createInformers(apiServer, clock);
  const recorder = createEventRecorder(apiServer, clock, 'daemonset-controller');
  const expectations = createExpectations(clock);
  const backOff = createFailedPodBackOff(clock);
  const history = createHistoryManager(apiServer);
  const specs = createSpecCache();

  const queue = createWorkQueue({
    env,
    name: 'daemonset',
    informers,
    process: (key) => sync(key),
    spacingMs: () => SYNC_MS + SYNC_MS_PER_NODE * listers.nodes.size,
  });

  const finishedPods =
    (key: string, daemonSet: StoredDaemonSet): HandleFinishedPod =>
    (pod, node) => {
      const subject = involvedObject(daemonSet);
      const { namespace, name } = pod.metadata;
      if (pod.status?.phase === 'Succeeded') {
        const message = `Found succeeded daemon pod ${namespace}/${name} on node ${node}, will try to delete it`;
        recorder.record(subject, 'Normal', 'SucceededDaemonPod', message);
        return 'delete';
      }
      const generation = daemonSet.status?.observedGeneration ?? 0;
      const holdMs = backOff.holdMs(`${daemonSet.metadata.uid}/${generation}/${node}`);
      if (holdMs > 0) {
        queue.addAfter(key, holdMs);
        return 'leave';
      }
      const message = `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`;
      recorder.record(subject, 'Warning', 'FailedDaemonPod', message);
      return 'delete';
    };

  const sync = (key: string): void => {
    const daemonSet = listers.daemonSets.get(key);
    if (!daemonSet) {
      expectations.forget(key);
      specs.forget(key);
      return;
    }
    const { uid, namespace, deletionTimestamp } = daemonSet.metadata;
    const spec = specs.of(key, daemonSet);
    if (spec.selectsAll) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      recorder.record(involvedObject(daemonSet), 'Warning', 'SelectingAll', message);
      return;
    }
    if (deletionTimestamp != null) return;

    const claimPods = (): StoredPod[] =>
      claimObjects(apiServer, pods, daemonSet, spec.selector, {
        owned: listers.podsOf(namespace, uid).values(),
        orphans: listers.orphanPods(namespace).values(),
      });
    const claimedPods = claimPods();
    const revisions: StoredRevision[] = claimObjects(apiServer, controllerRevisions, daemonSet, spec.selector, {
      owned: listers.revisionsOf(namespace, uid).values(),
      orphans: listers.orphanRevisions(namespace).values(),
    });
    const { hash, old } = history.construct(daemonSet, revisions, claimedPods);
    const observe = (claimed: readonly StoredPod[]): Observed => ({
      daemonSet,
      spec,
      nodes: listers.nodes,
      podsByNode: groupByNode(claimed),
      hash,
      now: clock.now(),
    });
    const updateStatus = (synced: boolean): void => {
      const counts = countNodes(observe(claimPods()));
      storeStatus(apiServer, daemonSet, counts, synced);
      const minReadyMs = (daemonSet.spec?.minReadySeconds ?? 0) * 1000;
      if (minReadyMs > 0 && counts.numberReady !== counts.numberAvailable) queue.addAfter(key, minReadyMs);
    };
    if (!expectations.satisfied(key)) {
      updateStatus(false);
      return;
    }
    const tools = { apiServer, recorder, expectations };
    try {
      const observed = observe(claimedPods);
      syncNodes(tools, key, daemonSet, hash, manage(observed, finishedPods(key, daemonSet)));
      if (expectations.satisfied(key) && !isOnDelete(daemonSet))
        syncNodes(tools, key, daemonSet, hash, rollingUpdate(observe(claimPods())));
      history.cleanUp(daemonSet, old, claimedPods);
    } finally {
      updateStatus(true);
    }
  };

  const ownerOf = (object: StoredPod | StoredRevision): string | undefined => {
    const owner = controllerOf(object);
    if (owner?.kind !== 'DaemonSet') return undefined;
    const key = `${object.metadata.namespace}/${owner.name}`;
    return listers.daemonSets.get(key)?.metadata.uid === owner.uid ? key : undefined;
  };
  const offerOrphan = ({ metadata }: StoredPod | StoredRevision): void => {
    for (const [key, daemonSet] of listers.daemonSets) {
      if (daemonSet.metadata.namespace !== metadata.namespace) continue;
      const selector = fromLabelSelector(daemonSet.spec?.selector);
      if (selector.ok && matches(selector.selector, metadata.labels ?? {})) queue.add(key);
    }
  };
  const onObject = <T extends StoredPod | StoredRevision>({
    type,
    object,
    previous,
  }: InformerEvent<T>): string | undefined => {
    const key = ownerOf(object);
    const before = previous && ownerOf(previous);
    if (before !== undefined && before !== key) queue.add(before);
    if (key !== undefined) queue.add(key);
    else if (type !== 'DELETED' && !controllerOf(object)) offerOrphan(object);
    return key;
  };
  const onPod = (event: InformerEvent<StoredPod>): void => {
    const key = onObject(event);
    if (key === undefined) return;
    const { type, object, previous } = event;
    if (type === 'DELETED' || object.metadata.deletionTimestamp != null) expectations.deleted(key);
    else if (type === 'ADDED') expectations.created(key);
    const becameReady = type === 'MODIFIED' && previous && !isReady(previous) && isReady(object);
    const minReadySeconds = listers.daemonSets.get(key)?.spec?.minReadySeconds ?? 0;
    // Plus one second: the condition's time is in whole seconds.
    if (becameReady && minReadySeconds > 0) queue.addAfter(key, (minReadySeconds + 1) * 1000);
  };
  const onNode = (node: NodeInfo): void => {
    const uids = new Set<string>();
    for (const pod of listers.podsOn(node.name)) uids.add(controllerOf(pod)?.uid ?? '');
    for (const [key, daemonSet] of listers.daemonSets) {
      const { shouldRun, shouldContinueRunning } = specs.of(key, daemonSet).placementOn(node);
      const scheduled = uids.has(daemonSet.metadata.uid);
      const misscheduled = (daemonSet.status?.numberMisscheduled ?? 0) > 0;
      if (scheduled ? !shouldContinueRunning || misscheduled : shouldRun) queue.add(key);
    }
  };
  const listers = createListers(informers, {
    daemonSet: ({ type, object }) => {
      if (type === 'DELETED') backOff.forget(object.metadata.uid);
      queue.add(keyOf(object));
    },
    pod: onPod,
    revision: (event) => void onObject(event),
    node: onNode,
  });
  for (const key of listers.daemonSets.keys()) queue.add(key);
  return informers;
};
