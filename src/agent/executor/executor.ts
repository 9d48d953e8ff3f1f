import { type Env, linkedController, sleep } from '../../runtime/index.ts';
import { type DecisionStore, StorageError } from '../decisions/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import type { Troubles } from '../troubles.ts';
import type { DaemonSetRef, Decision, DecisionAct, PodRef, Reauthorize } from '../types.ts';
import { isAdvanced, revisionOf, type UpdateTracker } from '../updates/index.ts';
import { isApproved } from './approval.ts';
import type { Mutex } from './concurrency.ts';
import type { AgentEvents } from './events.ts';
import { type LiveReads, type Patience, patienceOf, type Waiting } from './live-reads.ts';
import type { PodControl, WriteOutcome } from './pod-control.ts';
import { type EligibleCandidate, nameOf } from './preconditions.ts';
import { disconnected, isRefusal, notComputable, notDurable, type Refusal, refuse } from './refusal.ts';
import type { Restriction } from './restriction.ts';

/** Asks to update one pod now. */
export interface ExecutionRequest {
  pod: PodRef;
  /** Refuse the update if the target is another revision. */
  revision?: string;
  /** Determines how long reads, the write, and waiting for other updates may take. */
  waiting: Waiting;
  /** Checks the caller again before the decision is saved, and right before the write. */
  reauthorize?: Reauthorize;
  /** Returns the saved decision to carry out. Called once all checks have passed. */
  decide(candidate: EligibleCandidate): Promise<Decision | Refusal>;
}

export type Outcome =
  | { kind: 'done'; decision: Decision }
  /** Nothing was changed. */
  | { kind: 'refused'; refusal: Refusal }
  /** The write was sent and its response was lost: the decision stays `acting`. */
  | { kind: 'unknown'; decision: Decision };

/** Carries out decisions: reads the current state, checks it, saves that the write is about to be sent, and sends it. */
export interface Executor {
  execute(request: ExecutionRequest, signal: AbortSignal): Promise<Outcome>;
  /** Determines the outcome of a decision that is `acting`. False while the outcome can't be known. */
  resolveLostWrite(decision: Decision, signal: AbortSignal): Promise<boolean>;
}

export interface ExecutorOptions {
  env: Env;
  decisions: DecisionStore;
  tracker: Pick<UpdateTracker, 'all' | 'get' | 'setUpdateInProgress'>;
  liveReads: LiveReads;
  podControl: PodControl;
  /** Default: nothing is checked. */
  restriction?: Restriction | undefined;
  safe: SafeCheck;
  mutex: Mutex;
  events: AgentEvents;
  /** Where candidates that cannot be checked are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
  /** Why the state of the DaemonSet's update here cannot be computed; undefined if it can. */
  problemOf: (ref: DaemonSetRef) => string | undefined;
}

/** A kubelet may write a pod's status often: this many times, the update is checked again after a conflict. */
const MAX_ATTEMPTS = 5;
const RESOLVE_INTERVAL_MS = 1_000;

export const outcomeUnknownText = (pod: string): string =>
  `Sent the update of pod ${pod}, but got no response: the outcome is unknown. The history will show it`;

const refused = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });

const doneText = ({ kind, pod, toRevision }: DecisionAct): string =>
  kind === 'approve'
    ? `Approved ${toRevision} for pod ${pod}: the manager updates it`
    : `Deleted pod ${pod}: the new one runs ${toRevision}`;

export const createExecutor = (options: ExecutorOptions): Executor => {
  const { env, decisions, tracker, liveReads, podControl, restriction, safe, mutex, events, troubles } = options;

  /** If a full disk prevents saving what happened, it is determined again later. */
  const saveOutcome = async (decision: Decision, save: () => Promise<Decision>): Promise<Decision> => {
    try {
      return await save();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      env.log.error('failed to save the outcome of an update', { decision: decision.id, error });
      return decision;
    }
  };

  const settleDone = async (decision: Decision, act: DecisionAct, result = doneText(act)): Promise<Outcome> => {
    const what = act.kind === 'approve' ? 'Approved' : 'Deleted';
    const settled = await saveOutcome(decision, () => decisions.settle(decision.id, 'done', what, result));
    const { fromRevision, toRevision } = act;
    tracker.setUpdateInProgress(settled, {
      decision: settled,
      fromRevision,
      toRevision,
      startedAt: Date.parse(act.startedAt),
    });
    const owner = tracker.get(settled)?.record;
    const { by } = settled;
    const origin = by.via === 'agent' ? "the administrator's deadline" : `decision of ${by.identity}`;
    if (owner) events.record(owner, 'UpdateCarriedOut', String(settled.id), `${result} (${origin}).`);
    return { kind: 'done', decision: settled };
  };

  /** The write was certainly not carried out. A `once` decision ends; any other one is open again. */
  const giveBack = async (decision: Decision, result: string): Promise<void> => {
    tracker.setUpdateInProgress(decision, null);
    await saveOutcome(decision, () =>
      decision.once
        ? decisions.settle(decision.id, 'refused', 'Refused', result)
        : decisions.reopen(decision.id, result),
    );
  };

  /** Undefined while the outcome is unknown. */
  const settleLostWrite = async (
    decision: Decision,
    act: DecisionAct,
    outcome: WriteOutcome,
  ): Promise<Outcome | undefined> => {
    if (outcome === 'unknown') return undefined;
    if (outcome === 'done') return settleDone(decision, act, `${doneText(act)}; the response was lost`);
    await giveBack(decision, 'The request was lost and certainly not carried out');
    return refused(
      refuse('Refused', 502, `Pod ${decision.namespace}/${act.pod} was not updated: the request was lost`),
    );
  };

  /** Determines the outcome of a write without response while the caller still waits. */
  const pollOutcome = async (
    namespace: string,
    act: DecisionAct,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    for (;;) {
      const leftMs = endsAt - env.clock.now();
      if (leftMs <= 0) return 'unknown';
      const { controller, unlink } = linkedController(signal);
      const timer = env.clock.timer(leftMs, () => controller.abort(new Error('the caller no longer waits')));
      const outcome = await podControl
        .resolveLostWrite(namespace, act, controller.signal)
        .catch((): WriteOutcome => 'unknown')
        .finally(() => {
          timer.cancel();
          unlink();
        });
      if (outcome !== 'unknown' || signal.aborted) return outcome;
      await sleep(env.clock, Math.min(RESOLVE_INTERVAL_MS, Math.max(0, endsAt - env.clock.now())), signal);
    }
  };

  const noteUnknownOutcome = async (decision: Decision, act: DecisionAct): Promise<Outcome> => {
    const { namespace, daemonSet, by } = decision;
    const { fromRevision, toRevision } = act;
    const result = `No response to the update of pod ${act.pod}: the outcome is determined once that is possible`;
    const entry = { namespace, daemonSet, who: by.identity, what: 'OutcomeUnknown', fromRevision, toRevision, result };
    await saveOutcome(decision, () => decisions.note(entry).then(() => decision));
    return { kind: 'unknown', decision };
  };

  const reauthorize = async (request: ExecutionRequest): Promise<Refusal | undefined> => {
    const why = await request.reauthorize?.();
    return why === undefined ? undefined : refuse('NoConsent', 403, why);
  };

  /** All checks, in the documented order. `uid`: the pod of an earlier attempt. */
  const checkAll = async (
    request: ExecutionRequest,
    patience: Patience,
    uid: string | undefined,
    signal: AbortSignal,
  ): Promise<EligibleCandidate | Refusal> => {
    const candidate = await liveReads.candidate(request.pod, { images: true, patience, signal });
    if (isRefusal(candidate)) return candidate;
    const { pod, owner, announced } = candidate;
    const name = nameOf(pod);
    const { revision } = announced;
    if (request.revision !== undefined && revision !== request.revision)
      return refuse('Superseded', 403, `The target of pod ${name} is now ${revision}`);
    if (uid !== undefined && pod.metadata?.uid !== uid)
      return refuse('NotFound', 404, `Pod ${name} is not found: another pod has its name now`);
    const problem = options.problemOf(owner);
    if (problem !== undefined) return notComputable(problem);
    const timeoutMs = Math.min(patience.readMs, patience.endsAt - env.clock.now());
    if (timeoutMs <= 0) return disconnected();
    const open = await restriction?.check(pod, { timeoutMs, signal });
    if (open) return open;
    const { safe: isSafe, message } = await safe.ask(signal, { ...owner, revision });
    if (!isSafe) return refuse('NotSafe', 403, `Pod ${name} can not be updated now: ${message}`);
    return (await reauthorize(request)) ?? candidate;
  };

  /** An exception is no consent: what it leaves unchecked is refused. */
  const check: typeof checkAll = async (request, patience, uid, signal) => {
    const name = `${request.pod.namespace}/${request.pod.name}`;
    try {
      const checked = await checkAll(request, patience, uid, signal);
      troubles.clear('check', name);
      return checked;
    } catch (error) {
      signal.throwIfAborted();
      const cached = tracker.all().find(({ pod }) => pod && nameOf(pod) === name)?.record;
      return notComputable(troubles.report('check', name, error, cached));
    }
  };

  const executeNow = async (request: ExecutionRequest, first: Patience, signal: AbortSignal): Promise<Outcome> => {
    let uid: string | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const patience = attempt === 1 ? first : patienceOf(request.waiting, env.clock.now());
      const candidate = await check(request, patience, uid, signal);
      if (isRefusal(candidate)) return refused(candidate);
      const { pod, owner, announced } = candidate;
      const name = nameOf(pod);
      uid = pod.metadata?.uid;
      const decided = await request.decide(candidate);
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
      const { act } = decision;
      if (!act) throw new Error(`decision ${decision.id} has no act`);
      const { fromRevision, toRevision } = act;
      tracker.setUpdateInProgress(decision, { decision, fromRevision, toRevision, startedAt: env.clock.now() });
      if (kind === 'approve' && isApproved(pod, announced.revision)) return settleDone(decision, act);
      const objection = await reauthorize(request);
      if (objection) {
        await giveBack(decision, objection.text);
        return refused(objection);
      }
      const sentAt = env.clock.now();
      const sent = await podControl.send(kind, pod, announced.revision, { timeoutMs: patience.writeMs, signal });
      switch (sent.kind) {
        case 'done':
          return settleDone(decision, act);
        case 'gone':
          return settleDone(decision, act, `Pod ${act.pod} was already gone`);
        case 'changed':
          if (attempt < MAX_ATTEMPTS) {
            // Certainly not carried out. The next attempt is bound to another resourceVersion.
            await decisions.reopen(decision.id, 'The pod changed before the update: checking it again');
            tracker.setUpdateInProgress(decision, null);
            continue;
          }
          await giveBack(decision, 'The pod changed faster than it could be checked');
          return refused(refuse('Refused', 502, `Pod ${name} was not updated: it keeps changing`));
        case 'unsent':
          await giveBack(decision, `Nothing was sent: ${sent.message}`);
          return refused(disconnected());
        case 'refused':
          await giveBack(decision, `The API server refused: ${sent.message}`);
          return refused(
            refuse('Refused', 502, `Pod ${name} was not updated, the API server refused: ${sent.message}`),
          );
        case 'unknown': {
          env.log.warn('no response to an update', { pod: name, cause: sent.message });
          const outcome = await pollOutcome(decision.namespace, act, sentAt + patience.writeMs, signal);
          return (await settleLostWrite(decision, act, outcome)) ?? noteUnknownOutcome(decision, act);
        }
      }
    }
  };

  return {
    async execute(request, signal) {
      const patience = patienceOf(request.waiting, env.clock.now());
      const outcome = await mutex
        .run(() => executeNow(request, patience, signal), patience.endsAt)
        .catch((error: unknown) => {
          // After the write, storage errors are caught where they occur.
          if (error instanceof StorageError) return refused(notDurable(error));
          throw error;
        });
      if (outcome) return outcome;
      const { namespace, name } = request.pod;
      const text = `Pod ${namespace}/${name} can not be updated now: another update is in progress on this device`;
      return refused(refuse('Busy', 503, text));
    },
    async resolveLostWrite(decision, signal) {
      const resolved = await mutex.run(async () => {
        const { act } = decision;
        // It may have been settled while this call waited for the mutex.
        if (!act || decisions.current(decision)?.state !== 'acting') return true;
        const outcome = await podControl.resolveLostWrite(decision.namespace, act, signal);
        return (await settleLostWrite(decision, act, outcome)) !== undefined;
      });
      return resolved ?? false;
    },
  };
};
