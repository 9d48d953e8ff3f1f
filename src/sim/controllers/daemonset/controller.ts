import { controllerOf, fromLabelSelector, matches, type NodeView } from '../../../rollout/index.ts';
import type { Env } from '../../../runtime/index.ts';
import { controllerRevisions, type KeptDaemonSet, type KeptPod, type KeptRevision, pods } from '../../resources.ts';
import type { Machinery } from '../../types.ts';
import { createEventRecorder } from '../event-recorder.ts';
import { type Controls, createFeed, type Sight } from '../feed.ts';
import { createQueue } from '../queue.ts';
import { subjectOf } from '../subject.ts';
import { carryOut } from './carry-out.ts';
import { claim } from './claims.ts';
import { createExpectations } from './expectations.ts';
import { createFailedPodBackOff } from './failed-pods.ts';
import { createHistorian } from './history.ts';
import { followFeed } from './knowledge.ts';
import { isOnDelete } from './limits.ts';
import { isReady } from './pod-state.ts';
import { createProfiles } from './profile.ts';
import { type Finished, groupByNode, review, type Scene } from './review.ts';
import { rollingUpdate } from './rolling-update.ts';
import { countNodes, storeStatus } from './status.ts';

export interface DaemonSetController extends Controls {
  close(): void;
}

// One look at a DaemonSet takes the real controller some milliseconds, and more with more nodes: what happens
// meanwhile is seen in the next one.
const LOOK_MS = 10;
const LOOK_MS_PER_NODE = 0.01;

const keyOf = ({ metadata }: KeptDaemonSet): string => `${metadata.namespace}/${metadata.name}`;

/** The controller of apps/v1 DaemonSets, by the rules of Kubernetes 1.34. */
export const createDaemonSetController = (machinery: Machinery, env: Env): DaemonSetController => {
  const { clock } = env;
  const feed = createFeed(machinery, clock);
  const recorder = createEventRecorder(machinery, clock, 'daemonset-controller');
  const expectations = createExpectations(clock);
  const backOff = createFailedPodBackOff(clock);
  const historian = createHistorian(machinery);
  const profiles = createProfiles();

  const queue = createQueue({
    env,
    name: 'daemonset',
    feed,
    process: (key) => sync(key),
    spacingMs: () => LOOK_MS + LOOK_MS_PER_NODE * known.nodes.size,
  });

  const finishedPods =
    (key: string, daemonSet: KeptDaemonSet): Finished =>
    (pod, node) => {
      const subject = subjectOf(daemonSet);
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
    const daemonSet = known.daemonSets.get(key);
    if (!daemonSet) {
      expectations.forget(key);
      profiles.forget(key);
      return;
    }
    const { uid, namespace, deletionTimestamp } = daemonSet.metadata;
    const profile = profiles.of(key, daemonSet);
    if (profile.selectsAll) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      recorder.record(subjectOf(daemonSet), 'Warning', 'SelectingAll', message);
      return;
    }
    if (deletionTimestamp != null) return;

    const claimPods = (): KeptPod[] =>
      claim(machinery, pods, daemonSet, profile.selector, {
        owned: known.podsOf(uid).values(),
        orphans: known.orphanPods(namespace).values(),
      });
    const claimedPods = claimPods();
    const revisions: KeptRevision[] = claim(machinery, controllerRevisions, daemonSet, profile.selector, {
      owned: known.revisionsOf(uid).values(),
      orphans: known.orphanRevisions(namespace).values(),
    });
    const { hash, old } = historian.construct(daemonSet, revisions, claimedPods);
    const sceneOf = (claimed: readonly KeptPod[]): Scene => ({
      daemonSet,
      profile,
      nodes: known.nodes,
      podsByNode: groupByNode(claimed),
      hash,
      now: clock.now(),
    });
    const tell = (observed: boolean): void => {
      const counts = countNodes(sceneOf(claimPods()));
      storeStatus(machinery, daemonSet, counts, observed);
      const minReadyMs = (daemonSet.spec?.minReadySeconds ?? 0) * 1000;
      if (minReadyMs > 0 && counts.numberReady !== counts.numberAvailable) queue.addAfter(key, minReadyMs);
    };
    if (!expectations.satisfied(key)) {
      tell(false);
      return;
    }
    const tools = { machinery, recorder, expectations };
    try {
      const scene = sceneOf(claimedPods);
      carryOut(tools, key, daemonSet, hash, review(scene, finishedPods(key, daemonSet)));
      if (expectations.satisfied(key) && !isOnDelete(daemonSet))
        carryOut(tools, key, daemonSet, hash, rollingUpdate(sceneOf(claimPods())));
      historian.cleanUp(daemonSet, old, claimedPods);
    } finally {
      tell(true);
    }
  };

  const ownerOf = (object: KeptPod | KeptRevision): string | undefined => {
    const owner = controllerOf(object);
    if (owner?.kind !== 'DaemonSet') return undefined;
    const key = `${object.metadata.namespace}/${owner.name}`;
    return known.daemonSets.get(key)?.metadata.uid === owner.uid ? key : undefined;
  };
  const offerOrphan = ({ metadata }: KeptPod | KeptRevision): void => {
    for (const [key, daemonSet] of known.daemonSets) {
      if (daemonSet.metadata.namespace !== metadata.namespace) continue;
      const selector = fromLabelSelector(daemonSet.spec?.selector);
      if (selector.ok && matches(selector.selector, metadata.labels ?? {})) queue.add(key);
    }
  };
  const hear = <T extends KeptPod | KeptRevision>({ type, object, previous }: Sight<T>): string | undefined => {
    const key = ownerOf(object);
    const before = previous && ownerOf(previous);
    if (before !== undefined && before !== key) queue.add(before);
    if (key !== undefined) queue.add(key);
    else if (type !== 'DELETED' && !controllerOf(object)) offerOrphan(object);
    return key;
  };
  const hearPod = (sight: Sight<KeptPod>): void => {
    const key = hear(sight);
    if (key === undefined) return;
    const { type, object, previous } = sight;
    if (type === 'DELETED' || object.metadata.deletionTimestamp != null) expectations.deleted(key);
    else if (type === 'ADDED') expectations.created(key);
    const becameReady = type === 'MODIFIED' && previous && !isReady(previous) && isReady(object);
    const minReadySeconds = known.daemonSets.get(key)?.spec?.minReadySeconds ?? 0;
    // One second more: the condition's time has whole seconds only.
    if (becameReady && minReadySeconds > 0) queue.addAfter(key, (minReadySeconds + 1) * 1000);
  };
  const hearNode = (node: NodeView): void => {
    const uids = new Set<string>();
    for (const pod of known.podsOn(node.name)) uids.add(controllerOf(pod)?.uid ?? '');
    for (const [key, daemonSet] of known.daemonSets) {
      const { shouldRun, shouldContinueRunning } = profiles.of(key, daemonSet).placementOn(node);
      const scheduled = uids.has(daemonSet.metadata.uid);
      const misscheduled = (daemonSet.status?.numberMisscheduled ?? 0) > 0;
      if (scheduled ? !shouldContinueRunning || misscheduled : shouldRun) queue.add(key);
    }
  };
  const known = followFeed(feed, {
    daemonSet: ({ type, object }) => {
      if (type === 'DELETED') backOff.forget(object.metadata.uid);
      queue.add(keyOf(object));
    },
    pod: hearPod,
    revision: (sight) => void hear(sight),
    node: hearNode,
  });
  for (const key of known.daemonSets.keys()) queue.add(key);
  return feed;
};
