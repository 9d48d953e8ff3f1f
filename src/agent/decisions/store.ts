import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../../runtime/index.ts';
import { type JournalOptions, openJournal } from '../storage/index.ts';
import type { Caller, Choice, DaemonSetRef, Decision, DecisionState, HistoryEntry, Timestamp } from '../types.ts';
import { DecisionError } from './errors.ts';
import { type Change, createDecisionRecords } from './records.ts';
import type { DecisionStore } from './types.ts';

export interface DecisionStoreOptions {
  /** The agent's state directory; the book keeps to `decisions/` in it. */
  dir: string;
  env: Env;
  /** Default: the machine's own file system, and a lock on it. */
  disk?: Pick<JournalOptions, 'files' | 'lock'>;
}

const FILE = 'decisions.journal';

const historyTextOf = (choice: Choice, by: Caller): { what: string; result: string } => {
  if (by.via === 'agent')
    return { what: 'DeadlineReached', result: "The administrator's deadline has passed: nobody is asked any more." };
  switch (choice.choice) {
    case 'reject':
      return { what: 'Rejected', result: 'This version is not wanted.' };
    case 'postpone':
      return { what: 'Postponed', result: `The owner is asked again at ${choice.until}.` };
    case 'approve': {
      const { when } = choice;
      if (when.type === 'now') return { what: 'Approved', result: 'To be carried out at once.' };
      if (when.type === 'safe')
        return { what: 'Approved', result: 'To be carried out as soon as the device says that it is safe.' };
      const days = when.days ? ` on ${when.days.join(', ')}` : '';
      return { what: 'Approved', result: `To be carried out between ${when.from} and ${when.to}${days}.` };
    }
  }
};

// Texts of other programs come in here; a line of the history is for people.
const LONGEST_TEXT = 500;
const clip = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text);

const same = (a: DaemonSetRef, b: DaemonSetRef): boolean => a.namespace === b.namespace && a.daemonSet === b.daemonSet;

/**
 * Opens the decisions of this device. Throws a `JournalError` when another agent has them, the directory cannot be used,
 * or the file cannot be read; on a full or read-only disk it opens for reading.
 */
export const openDecisionStore = async ({ dir, env, disk }: DecisionStoreOptions): Promise<DecisionStore> => {
  const records = createDecisionRecords();
  const journal = await openJournal({ dir: path.join(dir, 'decisions'), name: FILE, env, state: records, ...disk });
  const listeners = new Set<() => void>();
  let last: Promise<unknown> = Promise.resolve();

  const timestamp = (): Timestamp => new Date(env.clock.now()).toISOString();

  /** One call after the other: each judges by what the one before it has put on the disk. */
  const inTurn = <T>(call: () => Promise<T>): Promise<T> => {
    const result = last.then(call);
    last = result.catch(() => undefined);
    return result;
  };

  const tell = (): void => {
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        env.log.error('a listener of decisions failed', { error });
      }
    }
  };

  const save = async (change: Omit<Change, 'lastId'>, lastId = records.lastId): Promise<void> => {
    const before = journal.trouble;
    try {
      await journal.append({ lastId, ...change } satisfies Change);
    } catch (error) {
      // Once for each new trouble: whoever listens may try to write.
      if (journal.trouble !== before) tell();
      throw error;
    }
    tell();
  };

  const line = (
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
    const decision = records.byId(id);
    if (!decision) throw new DecisionError('NotFound', `decision ${id} is neither open nor acting`);
    if (!allowed.includes(decision.state))
      throw new DecisionError('NotOpen', `decision ${id} is ${decision.state}, not ${allowed.join(' or ')}`);
    return decision;
  };

  return {
    decide: ({ namespace, daemonSet, revision, choice, by, fromRevision, once, asOf = Number.POSITIVE_INFINITY }) =>
      inTurn(async () => {
        const before = records.of({ namespace, daemonSet });
        if (before && before.revision === revision && isDeepStrictEqual(before.decision, choice)) return before;
        if (before?.state === 'acting')
          throw new DecisionError('Acting', `decision ${before.id} is being carried out; decide once that is over`);
        if (before && before.id > asOf)
          throw new DecisionError('Newer', `decision ${before.id} was made since this one was asked for`);
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
        const replaced = records
          .all()
          .filter((other) => same(other, decision))
          .map((other): Decision => ({ ...other, state: 'replaced', result: `By decision ${id}.`, settledAt: at }));
        const { what, result } = historyTextOf(choice, by);
        await save({ decisions: [...replaced, decision], history: [line(decision, what, result, fromRevision)] }, id);
        return decision;
      }),
    get lastId() {
      return records.lastId;
    },
    current: (ref) => records.of(ref),
    acting: () => records.all().filter(({ state }) => state === 'acting'),
    begin: (id, act) =>
      inTurn(async () => {
        const decision = find(id, 'open');
        if (records.of(decision)?.id !== id)
          throw new DecisionError('NotOpen', `decision ${id} was followed by a newer one`);
        if (decision.decision.choice !== 'approve' || act.toRevision !== decision.revision)
          throw new DecisionError('NotApproved', `decision ${id} does not approve revision ${act.toRevision}`);
        const acting: Decision = { ...decision, state: 'acting', act: { ...act, startedAt: timestamp() } };
        const what = act.kind === 'delete' ? 'Deleting' : 'Approving';
        const result =
          act.kind === 'delete'
            ? `Pod ${act.pod} is deleted, to be replaced.`
            : `The approval is handed to the manager for pod ${act.pod}.`;
        await save({ decisions: [acting], history: [line(acting, what, result)] });
        return acting;
      }),
    settle: (id, state, what, result) =>
      inTurn(async () => {
        const settled: Decision = {
          ...find(id, 'open', 'acting'),
          state,
          result: clip(result),
          settledAt: timestamp(),
        };
        await save({ decisions: [settled], history: [line(settled, what, result)] });
        return settled;
      }),
    reopen: (id, result) =>
      inTurn(async () => {
        const { act, ...rest } = find(id, 'acting');
        const open: Decision = { ...rest, state: 'open' };
        await save({ decisions: [open], history: [line(open, 'NotCarriedOut', result, act?.fromRevision)] });
        return open;
      }),
    note: (entry) => inTurn(() => save({ history: [{ ...entry, result: clip(entry.result), at: timestamp() }] })),
    history: () => records.history(),
    get damage() {
      return journal.damage;
    },
    get trouble() {
      return journal.trouble;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await last;
      await journal.close();
    },
  };
};
