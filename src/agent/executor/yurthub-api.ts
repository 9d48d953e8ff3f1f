import { DecisionError, type DecisionStore, StorageError } from '../decisions/index.ts';
import { type PodCache, unreadableReason } from '../pods/index.ts';
import type { AgentBackend, Caller, Decision, PodRef, Reauthorize, TextResponse } from '../types.ts';
import { revisionOf, type UpdateTracker } from '../updates/index.ts';
import { createSingleflight } from './concurrency.ts';
import type { AgentEvents } from './events.ts';
import { type Executor, outcomeUnknownText } from './executor.ts';
import type { ImageRequests } from './image-requests.ts';
import { type Candidate, checkOwner, checkPod, nameOf } from './preconditions.ts';
import { isRefusal, notComputable, notDurable, type Refusal, refuse, responseTo } from './refusal.ts';

export interface YurtHubApiOptions {
  node: string;
  cache: Pick<PodCache, 'get' | 'connected'>;
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'get'>;
  executor: Executor;
  imageRequests: Pick<ImageRequests, 'request'>;
  events: AgentEvents;
  triggerReconcile: () => void;
  /** Aborts when the agent stops. */
  signal: AbortSignal;
}

/** The two write operations of OpenYurt's YurtHub. */
export const createYurtHubApi = (options: YurtHubApiOptions): Pick<AgentBackend, 'upgrade' | 'imagePull'> => {
  const { node, cache, decisions, tracker, executor, imageRequests, events, triggerReconcile } = options;
  const singleflight = createSingleflight<TextResponse>();

  const approve = async (
    { owner, announced, pod }: Candidate,
    caller: Caller,
    { once, asOf }: { once: boolean; asOf: number },
  ): Promise<Decision | Refusal> => {
    const { namespace, daemonSet } = owner;
    const unsettled = (): Refusal => {
      triggerReconcile();
      return refuse('Unsettled', 504, outcomeUnknownText(nameOf(pod)));
    };
    try {
      const decision = await decisions.decide({
        namespace,
        daemonSet,
        revision: announced.revision,
        choice: { choice: 'approve', when: { type: 'now' } },
        by: caller,
        fromRevision: revisionOf(pod) || null,
        asOf,
        ...(once && { once }),
      });
      // An earlier, identical request has an unknown outcome.
      if (decision.state === 'acting') return unsettled();
      const note = `${caller.identity} approved the update to ${announced.revision}.`;
      events.record(owner, 'OwnerDecided', String(decision.id), note);
      return decision;
    } catch (error) {
      if (error instanceof StorageError) return notDurable(error);
      if (error instanceof DecisionError && error.code === 'Acting') return unsettled();
      if (error instanceof DecisionError && error.code === 'Newer')
        return refuse(
          'Superseded',
          403,
          `Pod ${nameOf(pod)} can not be updated: its owner has made another decision meanwhile`,
        );
      throw error;
    }
  };

  const queueUpgrade = async (
    ref: PodRef,
    caller: Caller,
    reauthorize: Reauthorize,
    asOf: number,
  ): Promise<TextResponse> => {
    const name = `${ref.namespace}/${ref.name}`;
    const pod = cache.get(ref);
    if (!pod) return { status: 404, text: `Pod ${name} is not found` };
    const unreadable = unreadableReason(pod);
    if (unreadable !== undefined) return responseTo(notComputable(unreadable));
    // The decision can wait for the images.
    const candidate = checkPod(pod, node, { images: false });
    if (isRefusal(candidate)) return responseTo(candidate);
    const terms = tracker.get(candidate.owner)?.record.terms ?? { ota: true, deadline: undefined };
    const eligible = checkOwner(candidate, terms, undefined);
    if (isRefusal(eligible)) return responseTo(eligible);
    const why = await reauthorize();
    if (why !== undefined) return { status: 403, text: why };
    const decision = await approve(candidate, caller, { once: false, asOf });
    if (isRefusal(decision)) return responseTo(decision);
    triggerReconcile();
    return { status: 202, text: `Queued updating pod ${name}` };
  };

  const upgrade = async (
    ref: PodRef,
    caller: Caller,
    queue: boolean,
    reauthorize: Reauthorize,
  ): Promise<TextResponse> => {
    const name = `${ref.namespace}/${ref.name}`;
    // A request that waits for the network must not replace a decision made after it.
    let asOf = decisions.lastId;
    if (queue && !cache.connected()) return queueUpgrade(ref, caller, reauthorize, asOf);
    const outcome = await executor.execute(
      {
        pod: ref,
        waiting: 'caller',
        reauthorize,
        decide: async (candidate) => {
          const decided = await approve(candidate, caller, { once: true, asOf });
          if (!isRefusal(decided)) asOf = Math.max(asOf, decided.id);
          return decided;
        },
      },
      options.signal,
    );
    triggerReconcile();
    switch (outcome.kind) {
      case 'done':
        return { status: 200, text: `Start updating pod ${name}` };
      case 'unknown':
        return { status: 504, text: outcomeUnknownText(name) };
      case 'refused':
        if (queue && outcome.refusal.code === 'Disconnected') return queueUpgrade(ref, caller, reauthorize, asOf);
        return responseTo(outcome.refusal);
    }
  };

  return {
    upgrade: (ref, caller, { queue, reauthorize }) =>
      singleflight(`${queue} ${ref.namespace}/${ref.name}`, () => upgrade(ref, caller, queue, reauthorize)),
    imagePull: (ref) => imageRequests.request(ref),
  };
};
