import { isKubeError, type KubeClient } from '../../kube/index.ts';
import { controllerRevisions } from '../../resources/index.ts';
import { recordedTemplate } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { type DecisionBook, DecisionError, JournalError } from '../decisions/index.ts';
import type { ImagePulls } from '../images/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { AgentBackend, Caller, Consent, Decision, PodRef, TextAnswer } from '../types.ts';
import { type KnownUpdates, revisionOf } from '../updates/index.ts';
import { ACT_MS } from './acts.ts';
import { type CarryOut, unsettledText } from './carry-out.ts';
import { type Candidate, checkOwner, checkPod, isRefusal } from './checks.ts';
import type { Fresh } from './fresh.ts';
import { READ_MS } from './fresh.ts';
import { disconnected, notDurable, type Refusal, refuse } from './refusal.ts';
import type { Tell } from './tell.ts';

export interface CompatibleOptions {
  client: Pick<KubeClient, 'get'>;
  env: Env;
  node: string;
  cache: Pick<PodCache, 'get' | 'connected'>;
  book: DecisionBook;
  known: Pick<KnownUpdates, 'get'>;
  fresh: Fresh;
  carryOut: CarryOut;
  images: ImagePulls;
  tell: Tell;
  /** What is decided is looked at soon. */
  kick: () => void;
  /** Of the agent. */
  signal: () => AbortSignal;
}

const answerTo = ({ status, text }: Refusal): TextAnswer => ({ status, text });

/** The two routes that OpenYurt's users call. */
export const createCompatible = (options: CompatibleOptions): Pick<AgentBackend, 'upgrade' | 'imagePull'> => {
  const { client, env, node, cache, book, known, fresh, carryOut, images, kick } = options;
  const underWay = new Map<string, Promise<TextAnswer>>();

  /** Whoever asks for the same while it is under way is told what the first one is told. */
  const shared = (key: string, work: () => Promise<TextAnswer>): Promise<TextAnswer> => {
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
      kick();
      return refuse('Unsettled', 504, unsettledText(`${namespace}/${pod.metadata?.name ?? ''}`));
    };
    try {
      const decision = await book.decide({
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
      options.tell.event(owner, 'OwnerDecided', String(decision.id), note);
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

  const queued = async (ref: PodRef, caller: Caller, consent: Consent, asOf: number): Promise<TextAnswer> => {
    const name = `${ref.namespace}/${ref.name}`;
    const pod = cache.get(ref);
    if (!pod) return { status: 404, text: `Pod ${name} is not found` };
    // Its images may come later: what is decided now waits for them.
    const candidate = checkPod(pod, node, { images: false });
    if (isRefusal(candidate)) return answerTo(candidate);
    const terms = known.get(candidate.owner)?.known.terms ?? { ota: true, deadline: undefined };
    const cleared = checkOwner(candidate, terms, undefined);
    if (isRefusal(cleared)) return answerTo(cleared);
    const why = await consent();
    if (why !== undefined) return { status: 403, text: why };
    const decision = await approve(candidate, caller, { once: false, asOf });
    if (isRefusal(decision)) return answerTo(decision);
    kick();
    return { status: 202, text: `Queued updating pod ${name}` };
  };

  const upgrade = async (ref: PodRef, caller: Caller, queue: boolean, consent: Consent): Promise<TextAnswer> => {
    const name = `${ref.namespace}/${ref.name}`;
    // A press that waits for the network gives way to what was decided after it.
    let asOf = book.lastId;
    if (queue && !cache.connected()) return queued(ref, caller, consent, asOf);
    const outcome = await carryOut.run(
      {
        pod: ref,
        endsAt: env.clock.now() + READ_MS,
        consent,
        decide: async (candidate) => {
          const decided = await approve(candidate, caller, { once: true, asOf });
          if (!isRefusal(decided)) asOf = Math.max(asOf, decided.id);
          return decided;
        },
      },
      options.signal(),
    );
    kick();
    switch (outcome.kind) {
      case 'done':
        return { status: 200, text: `Start updating pod ${name}` };
      case 'unknown':
        return { status: 504, text: unsettledText(name) };
      case 'refused':
        if (queue && outcome.refusal.code === 'Disconnected') return queued(ref, caller, consent, asOf);
        return answerTo(outcome.refusal);
    }
  };

  const pull = async (ref: PodRef): Promise<TextAnswer> => {
    const name = `${ref.namespace}/${ref.name}`;
    const signal = options.signal();
    const endsAt = env.clock.now() + READ_MS;
    const candidate = await fresh.candidate(ref, { images: false, endsAt, signal });
    if (isRefusal(candidate)) return answerTo(candidate);
    const { pod, owner, announced } = candidate;
    try {
      const at = { namespace: owner.namespace, name: `${owner.daemonSet}-${announced.revision}` };
      const timeoutMs = endsAt - env.clock.now();
      if (timeoutMs <= 0) return answerTo(disconnected());
      const template = recordedTemplate(await client.get(controllerRevisions, at, { timeoutMs, signal }));
      if (!template) return { status: 502, text: `Revision ${at.name} holds no template of a pod` };
      const within = new AbortController();
      const timer = env.clock.timer(ACT_MS, () => within.abort(new Error('no answer in time')));
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
    upgrade: (ref, caller, { queue, consent }) =>
      shared(`upgrade ${queue} ${ref.namespace}/${ref.name}`, () => upgrade(ref, caller, queue, consent)),
    imagePull: (ref) => shared(`pull ${ref.namespace}/${ref.name}`, () => pull(ref)),
  };
};
