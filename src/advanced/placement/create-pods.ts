import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createAir, createPacing, type ReconcilerContext, type WriteOutcome } from '../../controller/index.ts';
import { ifFound, isKubeError, keyOf, pagesOf, pods as podResource } from '../../kube/index.ts';
import { controllerOf, type Gate, gate, matches, parseSelector, toPodFacts } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import { newPod } from '../podcontrol/new-pod.ts';
import { createSuspensionCheck, type SuspensionCheck } from '../podcontrol/write-guards.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import { type Creation } from './place.ts';
import { slowStart } from './slow-start.ts';

/** A pod that was created and that the watch has not shown for so long is read, before the node may get another. */
const SHOWN_WITHIN_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** A creation binds nobody who comes after us: an API server that has much to do is given time. */
const CREATION_TIMEOUT_MS = 30_000;
const RUN = 'creations';

const gatesFor = ({ policy, preDelete }: AdvancedView): Gate[] => [
  ...(policy.policy.inPlace ? [gate.inPlace] : []),
  ...(preDelete?.markPodNotReady === true ? [gate.lifecycle] : []),
];

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Around = ReconcilerContext<AdvancedView, CachedPod>;
type Needs = Pick<Around, 'client' | 'env' | 'view' | 'pods' | 'metrics' | 'enqueue'> & {
  events: Pick<Around['events'], 'event' | 'warnOnce'>;
};

/** Creates pods in the background: slowly at first, and ever more rarely while the API server refuses them. */
export const createPodCreator = ({ client, env, view: viewNow, pods, events, metrics, enqueue }: Needs) => {
  const { clock, log } = env;
  const pacing = createPacing();
  const air = createAir({
    clock,
    most: 1,
    ended: enqueue,
    failed: (_key, error) => {
      log.error('creating pods failed unexpectedly', { error });
      pacing.failed(RUN, clock.now());
    },
  });
  /** By node: the pod that is being created, or was, until the watch shows it. */
  const coming = new Map<string, { uid: string | undefined; until: number }>();
  /**
   * By node: the pod that was made last, until the watch shows it or the API server has it no more. Without a UID it may
   * have been made: no answer came.
   */
  const unseen = new Map<string, { name: string; uid: string | undefined }>();
  /** By node: a pod that has the name which the node's next one would get. */
  const besides = new Map<string, string>();
  let refusal: string | undefined;
  let leading: AbortSignal | undefined;
  /** The term in which it is known what others created before. */
  let learnedIn: AbortSignal | undefined;

  const isShown = ({ namespace }: AdvancedView, name: string, uid: string | undefined): boolean =>
    uid !== undefined && pods.get(keyOf({ metadata: { namespace, name } }))?.facts.uid === uid;

  /** The node has this pod, and the watch has yet to show it. */
  const expect = (node: string, name: string, uid: string | undefined): void => {
    unseen.set(node, { name, uid });
    coming.set(node, { uid, until: clock.now() + SHOWN_WITHIN_MS });
  };

  /** The name is taken: by our own pod of an earlier try, or by one that is none of ours any more. */
  const settle = async (
    view: AdvancedView,
    name: string,
    node: string,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const { namespace, uid } = view;
    try {
      const existing = await client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal });
      const { labels = {}, deletionTimestamp } = existing.metadata ?? {};
      const selector = parseSelector(view.podSelector);
      const isOurs = controllerOf(existing)?.uid === uid && selector.ok && matches(selector.selector, labels);
      if (isOurs && !deletionTimestamp) return existing.metadata?.uid;
      besides.set(node, existing.metadata?.uid ?? '');
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    coming.delete(node);
    return undefined;
  };

  /** A watch that is late may not have shown the pod that the node has got: there is to be no other beside it. */
  const stillThere = async (
    { namespace, uid: owner }: AdvancedView,
    { name, uid }: { name: string; uid: string | undefined },
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const found = await ifFound(client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal }));
    if (!found) return undefined;
    const isIt = uid === undefined ? controllerOf(found)?.uid === owner : found.metadata?.uid === uid;
    return isIt ? found.metadata?.uid : undefined;
  };

  /**
   * Whoever led before may have created pods that a watch which is behind has not shown. Of deletes and changes the API
   * server says so, of a second pod for a node nobody would.
   */
  const learn = async (view: AdvancedView, term: AbortSignal, signal: AbortSignal): Promise<void> => {
    if (learnedIn === term) return;
    const { namespace, podSelector: labelSelector } = view;
    const call = { namespace, labelSelector, timeoutMs: CREATION_TIMEOUT_MS, signal };
    for await (const { items } of pagesOf(client, podResource, call))
      for (const pod of items) {
        const facts = controllerOf(pod)?.uid === view.uid ? toPodFacts(pod) : undefined;
        if (!facts || isShown(view, facts.name, facts.uid)) continue;
        if (facts.terminating && unseen.has(facts.node)) continue;
        unseen.set(facts.node, { name: facts.name, uid: facts.uid });
      }
    learnedIn = term;
  };

  const podFor = (view: AdvancedView, { template, target }: CurrentRevision, creation: Creation): Pod =>
    newPod({ ...creation, daemonSet: view, template, revision: target.hash, gates: gatesFor(view) });

  const createOne = async (
    view: AdvancedView,
    known: CurrentRevision,
    creation: Creation,
    standstill: SuspensionCheck,
    signal: AbortSignal,
  ): Promise<void> => {
    signal.throwIfAborted();
    leading?.throwIfAborted();
    const { node } = creation;
    // The watch has shown that the node has one; something else is asked for meanwhile, or nothing any more; or what this
    // goes by is of before a sleep.
    if (!coming.has(node) || viewNow().generation !== view.generation || viewNow().deleted || standstill.step()) return;
    const earlier = unseen.get(node);
    if (earlier) {
      const there = await stillThere(view, earlier, signal);
      if (!coming.has(node)) return;
      if (there !== undefined) {
        expect(node, earlier.name, there);
        return;
      }
      unseen.delete(node);
    }
    const pod = podFor(view, known, { ...creation, replaces: creation.replaces ?? besides.get(node) });
    const name = pod.metadata?.name ?? '';
    let uid: string | undefined;
    try {
      const made = await client.create(podResource, pod, { timeoutMs: CREATION_TIMEOUT_MS, signal });
      uid = made.metadata?.uid;
      metrics.podWritten?.('created');
      events.event('Normal', 'SuccessfulCreate', 'Create', `Created pod ${name} on ${node}.`);
    } catch (error) {
      const isTaken = isKubeError(error, 'AlreadyExists');
      // By the next try something else may be asked for: that has another name, and would not meet this one.
      if (isTaken || !isKubeError(error) || error.happened === 'unknown') unseen.set(node, { name, uid: undefined });
      if (!isTaken) throw error;
      uid = await settle(view, name, node, signal);
      if (uid === undefined) {
        unseen.delete(node);
        return;
      }
    }
    if (isShown(view, name, uid)) {
      unseen.delete(node);
      coming.delete(node);
      return;
    }
    expect(node, name, uid);
  };

  const failed = (errors: readonly unknown[]): void => {
    const [error] = errors;
    const now = clock.now();
    pacing.failed(RUN, now);
    // What was lost on the way is tried again without a word.
    if (!isKubeError(error) || error.happened === 'unknown' || error.status <= 0) return;
    refusal = textOf(error);
    events.warnOnce(`create ${error.code}`, 'FailedCreate', 'Create', `Could not create pods: ${refusal}`);
  };

  const outcomeOf = (error: unknown): WriteOutcome => {
    const message = textOf(error);
    if (!isKubeError(error) || error.happened === 'unknown') return { kind: 'unsure', message };
    return { kind: 'refused', reason: error.status > 0 ? error.code : undefined, message };
  };

  const isIdle = (): boolean => !air.has(RUN) && pacing.until(RUN, clock.now()) <= clock.now();

  return {
    /** Creates the node's new pod beside the one that it is to take over from. */
    async createSurgePod(
      view: AdvancedView,
      known: CurrentRevision,
      creation: Creation & { replaces: string },
      signal: AbortSignal,
    ): Promise<WriteOutcome> {
      const pod = podFor(view, known, creation);
      try {
        const made = await client.create(podResource, pod, { timeoutMs: TIMEOUT_MS, signal });
        return { kind: 'done', pod: toPodFacts(made) };
      } catch (error) {
        if (!isKubeError(error, 'AlreadyExists')) return outcomeOf(error);
        // Of an earlier try, or another leader's: the name says what it is for.
        const ref = { namespace: view.namespace, name: pod.metadata?.name ?? '' };
        try {
          const existing = await client.get(podResource, ref, { timeoutMs: TIMEOUT_MS, signal });
          if (controllerOf(existing)?.uid !== view.uid) return outcomeOf(error);
          return { kind: 'done', pod: toPodFacts(existing) };
        } catch (failure) {
          return outcomeOf(failure);
        }
      }
    },
    /** A pod is on its way to the node, and not one of those that the watch shows there. */
    isExpected(node: string): boolean {
      const one = coming.get(node);
      if (one && clock.now() >= one.until) coming.delete(node);
      return coming.has(node);
    },
    /** Whether the pod will be there is not known yet: no event may ever tell. */
    isBeingCreated: (node: string): boolean => coming.has(node) && coming.get(node)?.uid === undefined,
    inFlight: (): number => coming.size,
    /** When the node is to be looked at again whatever happens; Infinity for never. */
    lookAt: (node: string): number => coming.get(node)?.until ?? Number.POSITIVE_INFINITY,
    /** When creations may begin again; a time that is past for at once. */
    nextAttemptAt: (): number => pacing.until(RUN, clock.now()),
    /** What the API server says of pods that it refuses; undefined while it takes them. */
    refusal: (): string | undefined => refusal,
    /** Creations may begin at once. The end of those that are under way wakes us; for `turn` that is up to the caller. */
    isIdle,
    begin(view: AdvancedView, known: CurrentRevision, creations: readonly Creation[], signal: AbortSignal): void {
      if (creations.length === 0 || !isIdle()) return;
      leading = signal;
      for (const { node } of creations) coming.set(node, { uid: undefined, until: Number.POSITIVE_INFINITY });
      const standstill = createSuspensionCheck(() => clock.now());
      air.launch(RUN, async (ending) => {
        const createAll = () =>
          slowStart(
            creations,
            () => clock.now(),
            (creation) => createOne(view, known, creation, standstill, ending).finally(() => void standstill.step()),
          );
        const { errors } = await learn(view, signal, ending)
          .then(createAll, (error: unknown) => ({ errors: [error] }))
          .finally(() => {
            for (const { node } of creations) if (coming.get(node)?.uid === undefined) coming.delete(node);
          });
        if (errors.length > 0) failed(errors);
        else {
          refusal = undefined;
          pacing.succeeded(RUN);
        }
      });
    },
    /** The watch shows the pod. Where none was known, none is to be created beside it. */
    podObserved({ facts: { node, uid, terminating } }: CachedPod): void {
      if (unseen.get(node)?.uid === uid) unseen.delete(node);
      const one = coming.get(node);
      if (one && (one.uid === uid || (one.uid === undefined && !terminating))) coming.delete(node);
    },
    /** The watch shows that the pod is gone. */
    podGone({ facts: { node, uid } }: CachedPod): void {
      if (coming.get(node)?.uid === uid) coming.delete(node);
      if (unseen.get(node)?.uid === uid) unseen.delete(node);
    },
    /** The node is gone. */
    forgetNode(node: string): void {
      besides.delete(node);
      unseen.delete(node);
    },
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type PodCreator = ReturnType<typeof createPodCreator>;
