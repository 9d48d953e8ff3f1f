import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../../runtime/index.ts';
import { createListeners } from '../listeners.ts';
import { type DurableStateOptions, openDurableState, type StorageError } from '../storage/index.ts';
import type { Caller, Choice, Decision, DecisionState, HistoryEntry, Timestamp } from '../types.ts';
import { decisionOf, noRecords, parseRecords, type Records, recordsWith } from './records.ts';
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

export interface DecisionStoreOptions {
  /** The agent's state directory; the store uses its subdirectory `decisions/`. */
  dir: string;
  env: Env;
  /** Default: the machine's file system, with a lock on the directory. */
  disk?: Pick<DurableStateOptions<Records>, 'files' | 'lock'>;
}

const FILE = 'decisions.json';

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
  let records = state.initial ?? noRecords;
  const listeners = createListeners(env.log, 'the decisions');
  let last: Promise<unknown> = Promise.resolve();

  const timestamp = (): Timestamp => new Date(env.clock.now()).toISOString();

  /** Serializes the calls: each one sees what the previous one saved. */
  const inOrder = <T>(call: () => Promise<T>): Promise<T> => {
    const result = last.then(call);
    last = result.catch(() => undefined);
    return result;
  };

  const save = async (change: Parameters<typeof recordsWith>[1]): Promise<void> => {
    const before = state.trouble;
    const changed = recordsWith(records, change);
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
        const before = decisionOf(records, { namespace, daemonSet });
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
        const history = [by.via === 'agent' ? entry : { ...entry, choice }];
        await save({ decisions: [...replaced, decision], history });
        return decision;
      }),
    get lastId() {
      return records.lastId;
    },
    current: (ref) => decisionOf(records, ref),
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
        await save({ decisions: [acting], history: [historyEntry(acting, what, result)] });
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
        await save({ decisions: [settled], history: [historyEntry(settled, what, result)] });
        return settled;
      }),
    reopen: (id, result) =>
      inOrder(async () => {
        const { act, ...rest } = find(id, 'acting');
        const open: Decision = { ...rest, state: 'open' };
        await save({ decisions: [open], history: [historyEntry(open, 'NotCarriedOut', result, act?.fromRevision)] });
        return open;
      }),
    note: (entry) => inOrder(() => save({ history: [{ ...entry, result: clip(entry.result), at: timestamp() }] })),
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
