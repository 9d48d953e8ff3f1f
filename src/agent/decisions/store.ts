import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../../runtime/index.ts';
import { createListeners } from '../listeners.ts';
import { type DurableStateOptions, openDurableState, type StorageError } from '../storage/index.ts';
import {
  type Caller,
  type Choice,
  type DaemonSetRef,
  type Decision,
  type DecisionState,
  decisionStates,
  type HistoryEntry,
  type Timestamp,
} from '../types.ts';
import type { DecisionStore } from './types.ts';

/** How both APIs report that a decision could not be saved. The sentence ends with the fix. */
export const saveFailureOf = ({ code, message }: StorageError): { status: 503 | 507; text: string } => ({
  status: code === 'NoSpace' ? 507 : 503,
  text: `The decision could not be saved on this device, and nothing was sent: ${message}`,
});

/**
 * `Acting`: another decision for the DaemonSet is being carried out. `Newer`: the owner decided again after this request.
 * `NotFound`: no decision with this id is open or acting. `NotOpen`: the decision is in another state than the call needs.
 * `NotApproved`: the decision does not approve this update.
 */
export type DecisionErrorCode = 'Acting' | 'Newer' | 'NotFound' | 'NotOpen' | 'NotApproved';

/** The state of the decisions does not allow the call; nothing was changed. */
export class DecisionError extends Error {
  readonly code: DecisionErrorCode;

  constructor(code: DecisionErrorCode, message: string) {
    super(message);
    this.name = 'DecisionError';
    this.code = code;
  }
}

/** What is on disk. */
interface Records {
  /** The highest id so far, so that ids keep growing after old decisions are dropped. */
  lastId: number;
  /** Those that are open or acting. */
  decisions: readonly Decision[];
  /** Newest first. */
  history: readonly HistoryEntry[];
}

const HISTORY_KEPT = 500;

export interface DecisionStoreOptions {
  /** The agent's state directory; the store uses its subdirectory `decisions/`. */
  dir: string;
  env: Env;
  /** Default: the machine's file system, with a lock on the directory. */
  disk?: Pick<DurableStateOptions<Records>, 'files' | 'lock'>;
}

const FILE = 'decisions.json';

/** Whether it is an object with properties of these types, of which none is null. */
const hasTypes = (value: unknown, types: Readonly<Record<string, 'string' | 'number' | 'object'>>): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(types).every(([name, type]) => {
    const found: unknown = Reflect.get(value, name);
    return typeof found === type && found !== null;
  });

const isDecision = (value: unknown): value is Decision =>
  hasTypes(value, { id: 'number', namespace: 'string', daemonSet: 'string', revision: 'string', decision: 'object' }) &&
  decisionStates.some((state) => state === (value as Decision).state);

/**
 * Only what every version of the agent writes: the digest guarantees the rest, and a decision or a time that a later version
 * knows is kept and not carried out (`nextStep`).
 */
const parseRecords = (value: unknown): Records => {
  const { lastId, decisions, history } = (value ?? {}) as Partial<Record<keyof Records, unknown>>;
  if (
    typeof lastId !== 'number' ||
    !Array.isArray(decisions) ||
    !decisions.every(isDecision) ||
    !Array.isArray(history) ||
    !history.every((entry): entry is HistoryEntry => hasTypes(entry, { at: 'string', what: 'string' }))
  )
    throw new Error('it holds no decisions');
  return { lastId, decisions, history };
};

const historyTextOf = (choice: Choice, by: Caller): { what: string; result: string } => {
  if (by.via === 'agent')
    return {
      what: 'DeadlineReached',
      result: "The administrator's deadline has passed; the owner is no longer asked.",
    };
  switch (choice.choice) {
    case 'reject':
      return { what: 'Rejected', result: 'The owner rejected this version.' };
    case 'postpone':
      return { what: 'Postponed', result: `The owner is asked again at ${choice.until}.` };
    case 'approve': {
      const { when } = choice;
      if (when.type === 'now') return { what: 'Approved', result: 'The update starts at once.' };
      if (when.type === 'safe')
        return { what: 'Approved', result: 'The update starts as soon as the safety check of the device passes.' };
      const days = when.days ? ` on ${when.days.join(', ')}` : '';
      return { what: 'Approved', result: `The update starts between ${when.from} and ${when.to}${days}.` };
    }
  }
};

// Results may contain text of other programs; history entries are for people.
const LONGEST_TEXT = 500;
const clip = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text);

/**
 * Opens the decisions of this device. Throws a `StorageError` when another agent uses them, the directory can't be used, or
 * the file can't be read. On a full or read-only disk it opens for reading.
 */
export const openDecisionStore = async ({ dir, env, disk }: DecisionStoreOptions): Promise<DecisionStore> => {
  const where = { dir: path.join(dir, 'decisions'), name: FILE, env, ...disk };
  const state = await openDurableState<Records>({ ...where, parse: parseRecords });
  let records: Records = state.initial ?? { lastId: 0, decisions: [], history: [] };
  const listeners = createListeners(env.log, 'the decisions');
  let last: Promise<unknown> = Promise.resolve();

  const timestamp = (): Timestamp => new Date(env.clock.now()).toISOString();

  /** Serializes the calls: each one sees what the previous one saved. */
  const inOrder = <T>(call: () => Promise<T>): Promise<T> => {
    const result = last.then(call);
    last = result.catch(() => undefined);
    return result;
  };

  /** The decision for this DaemonSet that is open or acting. */
  const current = ({ namespace, daemonSet }: DaemonSetRef): Decision | undefined =>
    records.decisions.find((each) => each.namespace === namespace && each.daemonSet === daemonSet);

  /** Makes one atomic change. Decisions that are over are dropped. */
  const save = async (history: HistoryEntry, ...decisions: readonly Decision[]): Promise<void> => {
    const before = state.trouble;
    const others = records.decisions.filter(({ id }) => !decisions.some((changed) => changed.id === id));
    const changed: Records = {
      lastId: Math.max(records.lastId, ...decisions.map(({ id }) => id)),
      decisions: [...others, ...decisions.filter(({ state: to }) => to === 'open' || to === 'acting')],
      history: [history, ...records.history].slice(0, HISTORY_KEPT),
    };
    try {
      await state.save(changed);
    } catch (error) {
      // Once per new problem: a listener may try to write.
      if (state.trouble !== before) listeners.notify();
      throw error;
    }
    records = changed;
    listeners.notify();
  };

  const historyEntry = (
    decision: Decision,
    what: string,
    result: string,
    fromRevision: string | null = decision.act?.fromRevision ?? null,
  ): HistoryEntry => ({
    namespace: decision.namespace,
    daemonSet: decision.daemonSet,
    at: timestamp(),
    who: decision.by.identity,
    what,
    fromRevision,
    toRevision: decision.revision,
    result: clip(result),
  });

  const find = (id: number, ...allowed: DecisionState[]): Decision => {
    const decision = records.decisions.find((each) => each.id === id);
    if (!decision) throw new DecisionError('NotFound', `decision ${id} is neither open nor acting`);
    if (!allowed.includes(decision.state))
      throw new DecisionError('NotOpen', `decision ${id} is ${decision.state}, not ${allowed.join(' or ')}`);
    return decision;
  };

  return {
    decide: ({ namespace, daemonSet, revision, choice, by, fromRevision, once, asOf = Number.POSITIVE_INFINITY }) =>
      inOrder(async () => {
        const before = current({ namespace, daemonSet });
        if (before && before.revision === revision && isDeepStrictEqual(before.decision, choice)) return before;
        if (before?.state === 'acting')
          throw new DecisionError(
            'Acting',
            `decision ${before.id} is being carried out; decide again once it is finished`,
          );
        if (before && before.id > asOf)
          throw new DecisionError('Newer', `decision ${before.id} is newer than this request`);
        const id = records.lastId + 1;
        const at = timestamp();
        const decision: Decision = {
          id,
          namespace,
          daemonSet,
          revision,
          decision: choice,
          by,
          at,
          state: 'open',
          ...(once && { once }),
        };
        const replaced: Decision[] = before
          ? [{ ...before, state: 'replaced', result: `Replaced by decision ${id}.`, settledAt: at }]
          : [];
        const { what, result } = historyTextOf(choice, by);
        const entry = historyEntry(decision, what, result, fromRevision);
        // A deadline is nobody's choice.
        await save(by.via === 'agent' ? entry : { ...entry, choice }, ...replaced, decision);
        return decision;
      }),
    get lastId() {
      return records.lastId;
    },
    current,
    acting: () => records.decisions.filter((decision) => decision.state === 'acting'),
    begin: (id, act) =>
      inOrder(async () => {
        const decision = find(id, 'open');
        if (decision.decision.choice !== 'approve' || act.toRevision !== decision.revision)
          throw new DecisionError('NotApproved', `decision ${id} does not approve revision ${act.toRevision}`);
        const acting: Decision = { ...decision, state: 'acting', act: { ...act, startedAt: timestamp() } };
        const what = act.kind === 'delete' ? 'Deleting' : 'Approving';
        const result =
          act.kind === 'delete'
            ? `Deleting pod ${act.pod}, so that it is replaced.`
            : `Recording the approval for the manager on pod ${act.pod}.`;
        await save(historyEntry(acting, what, result), acting);
        return acting;
      }),
    settle: (id, to, what, result) =>
      inOrder(async () => {
        const settled: Decision = {
          ...find(id, 'open', 'acting'),
          state: to,
          result: clip(result),
          settledAt: timestamp(),
        };
        await save(historyEntry(settled, what, result), settled);
        return settled;
      }),
    reopen: (id, result) =>
      inOrder(async () => {
        const { act, ...rest } = find(id, 'acting');
        const open: Decision = { ...rest, state: 'open' };
        await save(historyEntry(open, 'NotCarriedOut', result, act?.fromRevision), open);
        return open;
      }),
    note: (entry) => inOrder(() => save({ ...entry, result: clip(entry.result), at: timestamp() })),
    history: () => records.history,
    get damage() {
      return state.damage;
    },
    get trouble() {
      return state.trouble;
    },
    onChange: (listener) => listeners.add(listener),
    async close() {
      await last;
      await state.close();
    },
  };
};
