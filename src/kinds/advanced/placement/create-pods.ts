import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  createInFlightWrites,
  decidedOnAgain,
  outcomeOfError,
  type ReconcilerContext,
  type WriteOutcome,
} from '../../../controller/index.ts';
import { ifFound, isKubeError, keyOf, pagesOf, pods as podResource, serverText } from '../../../kube/index.ts';
import { controllerOf, isDeletedTerminal, matches, parseSelector, toPodFacts } from '../../../rollout/index.ts';
import { type Gate, gate } from '../../../words/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import { newPod } from '../podcontrol/new-pod.ts';
import { createSuspensionCheck, type SuspensionCheck } from '../podcontrol/write-guards.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import { heldRevisionOn } from './held-revision.ts';
import type { Creation } from './place.ts';
import { slowStart } from './slow-start.ts';

const TIMEOUT_MS = 10_000;
/** Creations don't delay a successor, so a busy API server gets more time. */
const CREATION_TIMEOUT_MS = 30_000;
const BATCHES = 'creations';

const leavesNodeFree = (pod: Pod): boolean => {
  const facts = toPodFacts(pod);
  return facts !== undefined && isDeletedTerminal(facts);
};

const gatesFor = ({ policy, preDelete }: AdvancedView): Gate[] => [
  ...(policy.policy.inPlace ? [gate.inPlace] : []),
  ...(preDelete?.markPodNotReady === true ? [gate.lifecycle] : []),
];

type Context = ReconcilerContext<AdvancedView, CachedPod>;
type PodCreatorOptions = Pick<
  Context,
  'client' | 'env' | 'view' | 'nodes' | 'pods' | 'podCache' | 'metrics' | 'enqueue'
> & {
  ledger: Pick<Context['ledger'], 'get'>;
  events: Pick<Context['events'], 'event' | 'warnOnce'>;
};

export interface PodCreator {
  /** Creates the new pod of a surge next to the pod that it replaces. */
  createSurgePod(
    view: AdvancedView,
    current: CurrentRevision,
    creation: Creation & { replaces: string },
    signal: AbortSignal,
  ): Promise<WriteOutcome>;
  /** Asks by a dry run whether the API server would accept the pod: `done` if it would. */
  tryPod(view: AdvancedView, current: CurrentRevision, creation: Creation, signal: AbortSignal): Promise<WriteOutcome>;
  expectations: Expectations;
  /** When creations may start again, epoch ms; a time in the past for at once. */
  nextAttemptAt: () => number;
  /** Why the API server refuses pods; undefined while it accepts them. */
  refusal: () => string | undefined;
  /** No node lacks a pod that it should have: what was refused is no longer wanted. */
  noneWanted(): void;
  /** Can creations start at once? The end of running ones enqueues a reconcile; `nextAttemptAt` does not. */
  isIdle: () => boolean;
  start(view: AdvancedView, current: CurrentRevision, creations: readonly Creation[], signal: AbortSignal): void;
  /** The cache no longer shows the pod. */
  podGone(cached: CachedPod): void;
  forgetNode(node: string): void;
  drain: (graceMs: number) => Promise<void>;
}

/** Creates pods in the background, with slow start, and with back-off while the API server refuses them. */
export const createPodCreator = (options: PodCreatorOptions): PodCreator => {
  const { client, env, view: currentView, ledger, nodes, pods, podCache, events, metrics, enqueue } = options;
  const { clock, log } = env;
  const writes = createInFlightWrites({
    clock,
    limit: 1,
    onWriteDone: enqueue,
    failed: (_key, error) => log.error('creating pods failed unexpectedly', { error }),
  });
  const expectations = createExpectations();
  /** By node: UID of the pod that was there last, or that has the name which the node's next pod would get. */
  const predecessors = new Map<string, string>();
  /** Of this generation: another template, or other limits, may be accepted. */
  let refusal: { generation: number; message: string; surging: boolean } | undefined;
  let leading: AbortSignal | undefined;
  /** The term of leadership in which the pods created by others were listed. */
  let listedIn: AbortSignal | undefined;

  const isObserved = (pod: Pod): boolean => pods.get(keyOf(pod))?.facts.uid === pod.metadata?.uid;

  /** Brings a pod that the API server has into the cache. Rejects if the watch has lost it: a list of its cache will show it. */
  const observe = (pod: Pod): void => {
    podCache.accept(pod);
    if (!isObserved(pod)) throw new Error(`the cache lacks Pod ${pod.metadata?.name}, which the API server has`);
  };

  const readPod = ({ namespace }: AdvancedView, name: string, signal: AbortSignal): Promise<Pod | undefined> =>
    ifFound(client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal }));

  const isOurs = (view: AdvancedView, { metadata = {}, ...pod }: Pod): boolean => {
    const selector = parseSelector(view.podSelector);
    return (
      controllerOf({ ...pod, metadata })?.uid === view.uid &&
      selector.ok &&
      matches(selector.selector, metadata.labels ?? {})
    );
  };

  /**
   * A previous leader may have created pods that a stale cache doesn't show. The API server refuses stale deletes and
   * updates, but not a second pod for a node: list once before the first creation.
   */
  const listCreatedByOthers = async (view: AdvancedView, term: AbortSignal, signal: AbortSignal): Promise<void> => {
    if (listedIn === term) return;
    const { namespace, podSelector: labelSelector } = view;
    const call = { namespace, labelSelector, timeoutMs: CREATION_TIMEOUT_MS, signal };
    for await (const { items } of pagesOf(client, podResource, call))
      for (const pod of items) {
        const facts = controllerOf(pod)?.uid === view.uid ? toPodFacts(pod) : undefined;
        if (!facts || isObserved(pod)) continue;
        observe(pod);
        // What was decided for its node was decided without it.
        expectations.settle([facts.node]);
      }
    listedIn = term;
  };

  const podFor = (
    view: AdvancedView,
    { template: newest, templates, target }: CurrentRevision,
    creation: Creation,
  ): Pod => {
    const nodeUid = nodes.get(creation.node)?.uid ?? '';
    const { revision } = creation;
    const older = revision === undefined ? undefined : templates.get(revision);
    const of =
      revision !== undefined && older ? { revision, template: older } : { revision: target.hash, template: newest };
    return newPod({ ...creation, ...of, nodeUid, daemonSet: view, gates: gatesFor(view) });
  };

  /** UID of the last pod on the node. A process that has not seen it takes the one that an open update deleted. */
  const predecessorOn = (node: string): string | undefined => {
    const update = ledger.get(node)?.update;
    return predecessors.get(node) ?? (update?.kind === 'surge' ? undefined : update?.podUid);
  };

  /** Also of this revision: a window may have closed, or a stage opened, while it waited for others to be created. */
  const isStillWanted = (view: AdvancedView, current: CurrentRevision, { node, revision }: Creation): boolean =>
    expectations.has(node) &&
    currentView().generation === view.generation &&
    !currentView().deleted &&
    heldRevisionOn(ledger, current, node) === revision;

  const createOne = async (
    view: AdvancedView,
    current: CurrentRevision,
    creation: Creation,
    suspension: SuspensionCheck,
    signal: AbortSignal,
  ): Promise<void> => {
    signal.throwIfAborted();
    leading?.throwIfAborted();
    const { node } = creation;
    if (!isStillWanted(view, current, creation) || suspension.step()) return;
    const earlier = expectations.unobservedOn(node);
    if (earlier) {
      const found = await readPod(view, earlier.name, signal);
      if (!expectations.has(node)) return;
      const uid = found?.metadata?.uid;
      const isSame = found && isOurs(view, found) && (earlier.uid ?? uid) === uid && !leavesNodeFree(found);
      if (isSame) observe(found);
      expectations.doesNotExist(node);
      if (isSame) return;
    }
    const pod = podFor(view, current, { ...creation, replaces: creation.replaces ?? predecessorOn(node) });
    const name = pod.metadata?.name ?? '';
    try {
      const mayRepeat = (): boolean => isStillWanted(view, current, creation);
      podCache.accept(await client.create(podResource, pod, { timeoutMs: CREATION_TIMEOUT_MS, signal, mayRepeat }));
      metrics.podWritten?.('created');
      events.event('Normal', 'SuccessfulCreate', 'Create', `Created pod ${name} on ${node}.`);
    } catch (error) {
      if (isKubeError(error, 'TooManyRequests') && !isStillWanted(view, current, creation)) return;
      const isTaken = isKubeError(error, 'AlreadyExists');
      // The next attempt may be for another revision: that pod has another name and wouldn't collide with this one.
      if (isTaken || !isKubeError(error) || error.happened === 'unknown')
        expectations.mayExist(node, { name, uid: undefined });
      if (!isTaken) throw error;
      const existing = await readPod(view, name, signal);
      // From an earlier attempt, or another leader.
      if (existing && isOurs(view, existing) && !existing.metadata?.deletionTimestamp) observe(existing);
      else if (existing) predecessors.set(node, existing.metadata?.uid ?? '');
      expectations.doesNotExist(node);
    }
  };

  const noteRefusal = (error: unknown, surging = false): boolean => {
    // A request that was lost, or that a busy server did not look at, is retried silently.
    if (outcomeOfError(error).kind !== 'refused' || !isKubeError(error)) return false;
    if (error.status <= 0 || error.code === 'TooManyRequests') return false;
    refusal = { generation: currentView().generation, message: serverText(error.message), surging };
    return true;
  };

  const reportRefusal = (error: unknown): void => {
    if (!noteRefusal(error) || !isKubeError(error)) return;
    events.warnOnce(`create ${error.code}`, 'FailedCreate', 'Create', `Could not create pods: ${error.message}`);
  };

  const nextAttemptAt = (): number => writes.nextAttemptAt(BATCHES);
  const isIdle = (): boolean => !writes.has(BATCHES) && nextAttemptAt() <= clock.now();

  return {
    async createSurgePod(view, current, creation, signal) {
      const pod = podFor(view, current, creation);
      try {
        const created = await client.create(podResource, pod, { timeoutMs: TIMEOUT_MS, signal, ...decidedOnAgain });
        podCache.accept(created);
        refusal = undefined;
        return { kind: 'done', pod: toPodFacts(created) };
      } catch (error) {
        if (!isKubeError(error, 'AlreadyExists')) {
          noteRefusal(error, true);
          return outcomeOfError(error);
        }
        // The name is derived from the purpose of the pod: an earlier attempt or another leader created it.
        const ref = { namespace: view.namespace, name: pod.metadata?.name ?? '' };
        try {
          const existing = await client.get(podResource, ref, { timeoutMs: TIMEOUT_MS, signal });
          if (controllerOf(existing)?.uid !== view.uid) return outcomeOfError(error);
          podCache.accept(existing);
          if (!leavesNodeFree(existing)) return { kind: 'done', pod: toPodFacts(existing) };
          const replaces = existing.metadata?.uid ?? '';
          return this.createSurgePod(view, current, { ...creation, replaces }, signal);
        } catch (failure) {
          return outcomeOfError(failure);
        }
      }
    },
    async tryPod(view, current, creation, signal) {
      try {
        const pod = podFor(view, current, creation);
        await client.create(podResource, pod, { timeoutMs: TIMEOUT_MS, signal, dryRun: true });
        return { kind: 'done', pod: undefined };
      } catch (error) {
        return isKubeError(error, 'AlreadyExists') ? { kind: 'done', pod: undefined } : outcomeOfError(error);
      }
    },
    expectations,
    nextAttemptAt,
    refusal: () => (refusal?.generation === currentView().generation ? refusal.message : undefined),
    noneWanted() {
      if (refusal?.surging === false) refusal = undefined;
    },
    isIdle,
    start(view, current, creations, signal) {
      if (creations.length === 0 || !isIdle()) return;
      leading = signal;
      const names = creations.map(({ node }) => node);
      expectations.expect(names);
      const suspension = createSuspensionCheck(() => clock.now());
      writes.start(BATCHES, async (sending) => {
        const createAll = () =>
          slowStart(
            creations,
            () => clock.now(),
            (creation) => createOne(view, current, creation, suspension, sending).finally(() => void suspension.step()),
          );
        const { errors } = await listCreatedByOthers(view, signal, sending)
          .then(createAll, (error: unknown) => ({ errors: [error] }))
          .finally(() => expectations.settle(names));
        if (errors.length > 0) {
          reportRefusal(errors[0]);
          return 'failed';
        }
        refusal = undefined;
        return 'succeeded';
      });
    },
    podGone(cached) {
      const { node, name, uid, terminating } = cached.facts;
      expectations.podGone(cached);
      if (cached.ownership !== 'ours') return;
      predecessors.set(node, uid);
      // A list of an API server that lags may lack it.
      if (!terminating) expectations.mayExist(node, { name, uid });
    },
    forgetNode(node) {
      predecessors.delete(node);
      expectations.doesNotExist(node);
    },
    drain: (graceMs) => writes.drain(graceMs),
  };
};
