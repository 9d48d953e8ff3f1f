import { type Env, sleep } from '../../runtime/index.ts';
import { type DecisionStore, JournalError } from '../decisions/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import type { Decision, DecisionAct, PodRef, Reauthorize } from '../types.ts';
import { isAdvanced, revisionOf, type UpdateTracker } from '../updates/index.ts';
import { isApproved } from './approval.ts';
import type { AgentEvents } from './events.ts';
import type { LiveReads } from './live-reads.ts';
import { READ_BUDGET_MS } from './live-reads.ts';
import type { Mutex } from './mutex.ts';
import { type PodControl, WRITE_TIMEOUT_MS, type WriteOutcome } from './pod-control.ts';
import { type EligibleCandidate, isRefusal, nameOf } from './preconditions.ts';
import { disconnected, notDurable, type Refusal, refuse } from './refusal.ts';

/** One update that is to be carried out now, or not. */
export interface ExecutionRequest {
  pod: PodRef;
  /** Only when this is still the target. */
  revision?: string;
  /** Until when reads and waiting for other acts may last, epoch milliseconds. */
  endsAt: number;
  /** Looks at the caller once more, before anything is written and right before the act. */
  reauthorize?: Reauthorize;
  /** The consent on the disk that the act is carried out with. Called once all checks have passed. */
  decide(candidate: EligibleCandidate): Promise<Decision | Refusal>;
}

export type Outcome =
  | { kind: 'done'; decision: Decision }
  /** Nothing was changed. */
  | { kind: 'refused'; refusal: Refusal }
  /** Sent, and the answer was lost: the decision stays `acting`. */
  | { kind: 'unknown'; decision: Decision };

export interface Executor {
  execute(order: ExecutionRequest, signal: AbortSignal): Promise<Outcome>;
  /** Finds out what became of a decision that is `acting`. False when that cannot be known yet. */
  resolveLostWrite(decision: Decision, signal: AbortSignal): Promise<boolean>;
}

export interface ExecutorOptions {
  env: Env;
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'get' | 'setEpisode'>;
  liveReads: LiveReads;
  podControl: PodControl;
  safe: SafeCheck;
  mutex: Mutex;
  events: AgentEvents;
}

/** A kubelet writes a pod's status often while things happen: so many times an act is decided anew on what it is now. */
const TRIES = 5;
const SETTLE_EVERY_MS = 1_000;

export const outcomeUnknownText = (pod: string): string =>
  `Sent the update of pod ${pod}, and no answer came: whether it is carried out is not known yet. The history will events`;

export const createExecutor = (options: ExecutorOptions): Executor => {
  const { env, decisions, tracker, liveReads, podControl, safe, mutex, events } = options;

  const ownerOf = (decision: Decision) => tracker.get(decision)?.record;

  /** A disk that is full now must not make a lie of what happened: what was not written down is found out again later. */
  const written = async (decision: Decision, write: () => Promise<Decision>): Promise<Decision> => {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      env.log.error('what became of an act could not be written down', { decision: decision.id, error });
      return decision;
    }
  };

  const settleDone = async (decision: Decision, result: string): Promise<Decision> => {
    const { act } = decision;
    const what = act?.kind === 'approve' ? 'Approved' : 'Deleted';
    const settled = await written(decision, () => decisions.settle(decision.id, 'done', what, result));
    if (act) {
      const { fromRevision, toRevision } = act;
      tracker.setEpisode(settled, {
        decision: settled,
        fromRevision,
        toRevision,
        startedAt: Date.parse(act.startedAt),
      });
    }
    const owner = ownerOf(settled);
    const { by } = settled;
    const whose = by.via === 'agent' ? "the administrator's deadline" : `decision of ${by.identity}`;
    if (owner) events.record(owner, 'UpdateCarriedOut', String(settled.id), `${result} (${whose}).`);
    return settled;
  };

  /** The act was certainly not carried out. What was asked for at once is over; what was decided waits for its next time. */
  const giveBack = async (decision: Decision, result: string): Promise<void> => {
    tracker.setEpisode(decision, null);
    await written(decision, () =>
      decision.once
        ? decisions.settle(decision.id, 'refused', 'Refused', result)
        : decisions.reopen(decision.id, result),
    );
  };

  const doneText = ({ act }: Decision): string =>
    act?.kind === 'approve'
      ? `Approved ${act.toRevision} for pod ${act.pod}: the manager updates it`
      : `Deleted pod ${act?.pod}: the new one runs ${act?.toRevision}`;

  const conclude = async (decision: Decision, verdict: WriteOutcome): Promise<boolean> => {
    if (verdict === 'unknown') return false;
    if (verdict === 'done') await settleDone(decision, `${doneText(decision)}; the answer was lost`);
    else await giveBack(decision, 'The act was lost on its way and certainly not carried out');
    return true;
  };

  /** The answer was lost: while the caller still waits, the pod is asked. */
  const settleBefore = async (
    decision: Decision,
    act: DecisionAct,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    for (;;) {
      const left = endsAt - env.clock.now();
      if (left <= 0) return 'unknown';
      const ends = new AbortController();
      const timer = env.clock.timer(left, () => ends.abort(new Error('the caller waits no longer')));
      const verdict = await podControl
        .resolveLostWrite(decision.namespace, act, AbortSignal.any([ends.signal, signal]))
        .catch((): WriteOutcome => 'unknown')
        .finally(() => timer.cancel());
      if (verdict !== 'unknown' || signal.aborted) return verdict;
      await sleep(env.clock, Math.min(SETTLE_EVERY_MS, Math.max(0, endsAt - env.clock.now())), signal);
    }
  };

  const consentOf = async (order: ExecutionRequest): Promise<Refusal | undefined> => {
    const why = await order.reauthorize?.();
    return why === undefined ? undefined : refuse('NoConsent', 403, why);
  };

  /** Everything that speaks against the act, in the order that is promised. */
  const check = async (
    order: ExecutionRequest,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<EligibleCandidate | Refusal> => {
    const candidate = await liveReads.candidate(order.pod, { images: true, endsAt, signal });
    if (isRefusal(candidate)) return candidate;
    const { revision } = candidate.announced;
    return order.revision === undefined || revision === order.revision
      ? candidate
      : refuse('Superseded', 403, `Pod ${nameOf(candidate.pod)} is to be updated to ${revision} by now`);
  };

  const carry = async (order: ExecutionRequest, signal: AbortSignal): Promise<Outcome> => {
    const refused = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });
    let uid: string | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const candidate = await check(order, attempt === 1 ? order.endsAt : env.clock.now() + READ_BUDGET_MS, signal);
      if (isRefusal(candidate)) return refused(candidate);
      const { pod, owner, announced } = candidate;
      const name = nameOf(pod);
      if (uid !== undefined && pod.metadata?.uid !== uid)
        return refused(refuse('NotFound', 404, `Pod ${name} is not found: another one has its name by now`));
      uid = pod.metadata?.uid;
      const { safe: isSafe, message } = await safe.ask(signal, { ...owner, revision: announced.revision });
      if (!isSafe) return refused(refuse('NotSafe', 403, `Pod ${name} can not be updated now: ${message}`));
      const objection = await consentOf(order);
      if (objection) return refused(objection);
      const decided = await order.decide(candidate);
      if (isRefusal(decided)) return refused(decided);

      const kind = isAdvanced(owner) ? 'approve' : 'delete';
      const decision = await decisions.begin(decided.id, {
        kind,
        pod: pod.metadata?.name ?? '',
        podUid: uid ?? '',
        podResourceVersion: pod.metadata?.resourceVersion ?? '',
        fromRevision: revisionOf(pod),
        toRevision: announced.revision,
      });
      const act = decision.act;
      if (!act) throw new Error(`decision ${decision.id} was begun without an act`);
      tracker.setEpisode(decision, {
        decision,
        fromRevision: act.fromRevision,
        toRevision: act.toRevision,
        startedAt: env.clock.now(),
      });
      if (kind === 'approve' && isApproved(pod, announced.revision))
        return { kind: 'done', decision: await settleDone(decision, doneText(decision)) };
      const lastWord = await consentOf(order);
      if (lastWord) {
        await giveBack(decision, lastWord.text);
        return refused(lastWord);
      }
      const sentAt = env.clock.now();
      const sent = await podControl.send(kind, pod, announced.revision, signal);
      switch (sent.kind) {
        case 'done':
          return { kind: 'done', decision: await settleDone(decision, doneText(decision)) };
        case 'gone':
          return { kind: 'done', decision: await settleDone(decision, `Pod ${act.pod} was gone already`) };
        case 'changed':
          if (attempt < TRIES) {
            // Certainly not carried out: the next try is bound to another version, and is another act.
            await decisions.reopen(decision.id, 'The pod changed before the act reached it: it is looked at again');
            tracker.setEpisode(decision, null);
            continue;
          }
          await giveBack(decision, 'The pod changed faster than it could be looked at');
          return refused(refuse('Refused', 502, `Pod ${name} was not updated: it changes all the time`));
        case 'unsent':
          await giveBack(decision, `Nothing was sent: ${sent.message}`);
          return refused(disconnected());
        case 'refused':
          await giveBack(decision, `The API server refused: ${sent.message}`);
          return refused(
            refuse('Refused', 502, `Pod ${name} was not updated, the API server refused: ${sent.message}`),
          );
        case 'unknown': {
          env.log.warn('the answer to an act was lost', { pod: name, cause: sent.message });
          const verdict = await settleBefore(decision, act, sentAt + WRITE_TIMEOUT_MS, signal);
          if (verdict === 'done')
            return { kind: 'done', decision: await settleDone(decision, `${doneText(decision)}; the answer was lost`) };
          if (await conclude(decision, verdict))
            return refused(refuse('Refused', 502, `Pod ${name} was not updated: the request was lost on its way`));
          const { namespace, daemonSet } = decision;
          const { fromRevision, toRevision } = act;
          const result = `No answer to the act on pod ${act.pod}: it is found out what became of it once that is possible`;
          const who = decision.by.identity;
          const line = { namespace, daemonSet, who, what: 'OutcomeUnknown', fromRevision, toRevision, result };
          await written(decision, () => decisions.note(line).then(() => decision));
          return { kind: 'unknown', decision };
        }
      }
    }
  };

  return {
    async execute(order, signal) {
      const work = async (): Promise<Outcome> => {
        try {
          return await carry(order, signal);
        } catch (error) {
          // All that is written after an act is caught where it is written.
          if (error instanceof JournalError) return { kind: 'refused', refusal: notDurable(error) };
          throw error;
        }
      };
      const outcome = await mutex.run(work, order.endsAt);
      if (outcome) return outcome;
      const { namespace, name } = order.pod;
      const text = `Pod ${namespace}/${name} can not be updated now: another update is under way on this device`;
      return { kind: 'refused', refusal: refuse('Busy', 503, text) };
    },
    async resolveLostWrite(decision, signal) {
      const done = await mutex.run(async () => {
        const { act } = decision;
        // Somebody settled it while this one waited for its turn.
        if (!act || decisions.current(decision)?.state !== 'acting') return true;
        return conclude(decision, await podControl.resolveLostWrite(decision.namespace, act, signal));
      });
      return done ?? false;
    },
  };
};
