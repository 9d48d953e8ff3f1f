import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { recordedTemplate } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { DecisionError, type DecisionStore, JournalError } from '../decisions/index.ts';
import type { ImagePulls } from '../images/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { AgentBackend, Caller, Decision, PodRef, Reauthorize, TextResponse } from '../types.ts';
import { revisionOf, type UpdateTracker } from '../updates/index.ts';
import type { AgentEvents } from './events.ts';
import { type Executor, outcomeUnknownText } from './executor.ts';
import type { LiveReads } from './live-reads.ts';
import { READ_BUDGET_MS } from './live-reads.ts';
import { WRITE_TIMEOUT_MS } from './pod-control.ts';
import { type Candidate, checkOwner, checkPod, isRefusal } from './preconditions.ts';
import { disconnected, notDurable, type Refusal, refuse } from './refusal.ts';

export interface YurtHubApiOptions {
  client: Pick<KubeClient, 'get'>;
  env: Env;
  node: string;
  cache: Pick<PodCache, 'get' | 'connected'>;
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'get'>;
  liveReads: LiveReads;
  executor: Executor;
  images: ImagePulls;
  events: AgentEvents;
  /** What is decided is looked at soon. */
  triggerReconcile: () => void;
  /** Of the agent. */
  signal: () => AbortSignal;
}

const answerTo = ({ status, text }: Refusal): TextResponse => ({ status, text });

/** The two routes that OpenYurt's users call. */
export const createYurtHubApi = (options: YurtHubApiOptions): Pick<AgentBackend, 'upgrade' | 'imagePull'> => {
  const { client, env, node, cache, decisions, tracker, liveReads, executor, images, triggerReconcile } = options;
  const underWay = new Map<string, Promise<TextResponse>>();

  /** Whoever asks for the same while it is under way is told what the first one is told. */
  const shared = (key: string, work: () => Promise<TextResponse>): Promise<TextResponse> => {
    const before = underWay.get(key);
    if (before) return before;
    const answer = work().finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };

  const approve = async (
    { owner, announced, pod }: Candidate,
    caller: Caller,
    { once, asOf }: { once: boolean; asOf: number },
  ): Promise<Decision | Refusal> => {
    const { namespace, daemonSet } = owner;
    const unsettled = (): Refusal => {
      triggerReconcile();
      return refuse('Unsettled', 504, outcomeUnknownText(`${namespace}/${pod.metadata?.name ?? ''}`));
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
      // The same was asked for before, and what became of that is not known.
      if (decision.state === 'acting') return unsettled();
      const note = `${caller.identity} approved the update to ${announced.revision}.`;
      options.events.record(owner, 'OwnerDecided', String(decision.id), note);
      return decision;
    } catch (error) {
      if (error instanceof JournalError) return notDurable(error);
      if (error instanceof DecisionError && error.code === 'Acting') return unsettled();
      if (error instanceof DecisionError && error.code === 'Newer')
        return refuse(
          'Superseded',
          403,
          `Pod ${namespace}/${pod.metadata?.name ?? ''} can not be updated: its owner has decided otherwise meanwhile`,
        );
      throw error;
    }
  };

  const queued = async (ref: PodRef, caller: Caller, reauthorize: Reauthorize, asOf: number): Promise<TextResponse> => {
    const name = `${ref.namespace}/${ref.name}`;
    const pod = cache.get(ref);
    if (!pod) return { status: 404, text: `Pod ${name} is not found` };
    // Its images may come later: what is decided now waits for them.
    const candidate = checkPod(pod, node, { images: false });
    if (isRefusal(candidate)) return answerTo(candidate);
    const terms = tracker.get(candidate.owner)?.record.terms ?? { ota: true, deadline: undefined };
    const cleared = checkOwner(candidate, terms, undefined);
    if (isRefusal(cleared)) return answerTo(cleared);
    const why = await reauthorize();
    if (why !== undefined) return { status: 403, text: why };
    const decision = await approve(candidate, caller, { once: false, asOf });
    if (isRefusal(decision)) return answerTo(decision);
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
    // A press that waits for the network gives way to what was decided after it.
    let asOf = decisions.lastId;
    if (queue && !cache.connected()) return queued(ref, caller, reauthorize, asOf);
    const outcome = await executor.execute(
      {
        pod: ref,
        endsAt: env.clock.now() + READ_BUDGET_MS,
        reauthorize,
        decide: async (candidate) => {
          const decided = await approve(candidate, caller, { once: true, asOf });
          if (!isRefusal(decided)) asOf = Math.max(asOf, decided.id);
          return decided;
        },
      },
      options.signal(),
    );
    triggerReconcile();
    switch (outcome.kind) {
      case 'done':
        return { status: 200, text: `Start updating pod ${name}` };
      case 'unknown':
        return { status: 504, text: outcomeUnknownText(name) };
      case 'refused':
        if (queue && outcome.refusal.code === 'Disconnected') return queued(ref, caller, reauthorize, asOf);
        return answerTo(outcome.refusal);
    }
  };

  const pull = async (ref: PodRef): Promise<TextResponse> => {
    const name = `${ref.namespace}/${ref.name}`;
    const signal = options.signal();
    const endsAt = env.clock.now() + READ_BUDGET_MS;
    const candidate = await liveReads.candidate(ref, { images: false, endsAt, signal });
    if (isRefusal(candidate)) return answerTo(candidate);
    const { pod, owner, announced } = candidate;
    try {
      const at = { namespace: owner.namespace, name: `${owner.daemonSet}-${announced.revision}` };
      const timeoutMs = endsAt - env.clock.now();
      if (timeoutMs <= 0) return answerTo(disconnected());
      const template = recordedTemplate(await client.get(controllerRevisions, at, { timeoutMs, signal }));
      if (!template) return { status: 502, text: `Revision ${at.name} holds no template of a pod` };
      const within = new AbortController();
      const timer = env.clock.timer(WRITE_TIMEOUT_MS, () => within.abort(new Error('no answer in time')));
      try {
        await images.request(pod, { hash: announced.revision, template }, AbortSignal.any([signal, within.signal]));
      } catch (error) {
        if (!within.signal.aborted) throw error;
        return { status: 504, text: `Asked for the images of pod ${name}, and no answer came in time` };
      } finally {
        timer.cancel();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      if (error.happened === 'unknown')
        return { status: 504, text: `Asked for the images of pod ${name}, and the answer was lost: ask again` };
      return error.code === 'Transport' || error.code === 'Timeout'
        ? answerTo(disconnected())
        : { status: 502, text: `The images of pod ${name} can not be pulled: ${error.message}` };
    }
    return { status: 200, text: `Image pre-pull requested for pod ${name}` };
  };

  return {
    upgrade: (ref, caller, { queue, reauthorize }) =>
      shared(`upgrade ${queue} ${ref.namespace}/${ref.name}`, () => upgrade(ref, caller, queue, reauthorize)),
    imagePull: (ref) => shared(`pull ${ref.namespace}/${ref.name}`, () => pull(ref)),
  };
};
