import { DecisionError, type DecisionStore, type StorageError } from '../decisions/index.ts';
import type { DaemonSetRef, Decision, HistoryEntry } from '../types.ts';

/** The records that would be on disk. */
export interface StoredRecords {
  decisions: Decision[];
  history: HistoryEntry[];
  /** The error of all writes. */
  failure?: StorageError | undefined;
}

/** A `DecisionStore` in memory, with the same rules. */
export const createMemoryDecisionStore = (
  now: () => number,
  records: StoredRecords = { decisions: [], history: [] },
): DecisionStore & { records: StoredRecords } => {
  const listeners = new Set<() => void>();
  const stamp = (): string => new Date(now()).toISOString();
  const of = (ref: DaemonSetRef): Decision | undefined =>
    records.decisions.find(
      ({ namespace, daemonSet, state }) =>
        namespace === ref.namespace && daemonSet === ref.daemonSet && (state === 'open' || state === 'acting'),
    );
  const check = (): void => {
    if (records.failure) throw records.failure;
  };
  const note = async (entry: Omit<HistoryEntry, 'at'>): Promise<void> => {
    check();
    records.history.unshift({ at: stamp(), ...entry });
    for (const listener of listeners) listener();
  };
  const change = async (
    id: number,
    from: readonly string[],
    what: string,
    update: (decision: Decision) => Decision,
  ) => {
    const index = records.decisions.findIndex((decision) => decision.id === id);
    const before = records.decisions[index];
    if (!before || !from.includes(before.state))
      throw new DecisionError('NotOpen', `decision ${id} is ${before?.state}`);
    check();
    const after = update(before);
    records.decisions[index] = after;
    const { namespace, daemonSet, by, act, revision } = after;
    await note({
      namespace,
      daemonSet,
      who: by.identity,
      what,
      fromRevision: act?.fromRevision ?? null,
      toRevision: revision,
      result: after.result ?? what,
    });
    return after;
  };

  return {
    records,
    damage: undefined,
    get trouble() {
      return records.failure?.message;
    },
    async decide({ choice, fromRevision, once, asOf = Number.POSITIVE_INFINITY, ...input }) {
      const before = of(input);
      const isSame = before?.revision === input.revision && JSON.stringify(before.decision) === JSON.stringify(choice);
      if (before && isSame) return before;
      if (before?.state === 'acting') throw new DecisionError('Acting', 'another one is acting');
      if (before && before.id > asOf) throw new DecisionError('Newer', 'one was made since');
      check();
      if (before) await change(before.id, ['open'], 'Replaced', (one) => ({ ...one, state: 'replaced' }));
      const { namespace, daemonSet, revision, by } = input;
      const id = records.decisions.length + 1;
      const decision: Decision = {
        id,
        namespace,
        daemonSet,
        revision,
        decision: choice,
        by,
        at: stamp(),
        state: 'open',
        ...(once && { once }),
      };
      records.decisions.push(decision);
      await note({
        namespace,
        daemonSet,
        who: by.identity,
        what: choice.choice,
        fromRevision,
        toRevision: revision,
        result: '',
      });
      return decision;
    },
    get lastId() {
      return records.decisions.length;
    },
    current: of,
    acting: () => records.decisions.filter(({ state }) => state === 'acting'),
    begin: (id, act) =>
      change(id, ['open'], 'Deleting', (one) => ({ ...one, state: 'acting', act: { ...act, startedAt: stamp() } })),
    settle: (id, state, what, result) =>
      change(id, ['open', 'acting'], what, (one) => ({ ...one, state, result, settledAt: stamp() })),
    reopen: (id, result) =>
      change(id, ['acting'], 'NotCarriedOut', ({ act: _act, ...one }) => ({ ...one, state: 'open', result })),
    note,
    history: () => records.history,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => Promise.resolve(),
  };
};
