import type { JournalState } from '../storage/index.ts';
import type { DaemonSetRef, Decision, DecisionState, HistoryEntry } from '../types.ts';

/** One record of the journal: an atomic change. */
export interface Change {
  /** The highest id so far, so that ids keep growing after old decisions are dropped. */
  lastId: number;
  decisions?: readonly Decision[];
  history?: readonly HistoryEntry[];
}

/** The state of the journal: the decisions that are open or acting, and the history. */
export interface DecisionRecords extends JournalState {
  readonly lastId: number;
  byId(id: number): Decision | undefined;
  of(ref: DaemonSetRef): Decision | undefined;
  all(): readonly Decision[];
  /** Newest first. */
  history(): readonly HistoryEntry[];
}

const HISTORY_KEPT = 500;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const states: readonly string[] = [
  'open',
  'acting',
  'done',
  'refused',
  'superseded',
  'replaced',
] satisfies DecisionState[];

const isDecision = (value: unknown): value is Decision =>
  isObject(value) &&
  'id' in value &&
  typeof value.id === 'number' &&
  'namespace' in value &&
  typeof value.namespace === 'string' &&
  'daemonSet' in value &&
  typeof value.daemonSet === 'string' &&
  'revision' in value &&
  typeof value.revision === 'string' &&
  'state' in value &&
  typeof value.state === 'string' &&
  states.includes(value.state) &&
  'decision' in value &&
  isObject(value.decision);

const isEntry = (value: unknown): value is HistoryEntry =>
  isObject(value) && 'at' in value && typeof value.at === 'string' && 'what' in value && typeof value.what === 'string';

const isListOf = (value: unknown, is: (entry: unknown) => boolean): boolean =>
  value === undefined || (Array.isArray(value) && value.every((entry) => is(entry)));

const isChange = (record: unknown): record is Change =>
  isObject(record) &&
  'lastId' in record &&
  typeof record.lastId === 'number' &&
  isListOf('decisions' in record ? record.decisions : undefined, isDecision) &&
  isListOf('history' in record ? record.history : undefined, isEntry);

const isLive = ({ state }: Decision): boolean => state === 'open' || state === 'acting';

export const createDecisionRecords = (): DecisionRecords => {
  const live = new Map<number, Decision>();
  // Oldest first.
  let entries: HistoryEntry[] = [];
  let newestFirst: readonly HistoryEntry[] | undefined;
  let lastId = 0;

  return {
    get lastId() {
      return lastId;
    },
    apply(record) {
      if (!isChange(record)) return false;
      lastId = Math.max(lastId, record.lastId);
      for (const decision of record.decisions ?? []) {
        lastId = Math.max(lastId, decision.id);
        if (isLive(decision)) live.set(decision.id, decision);
        else live.delete(decision.id);
      }
      if (record.history && record.history.length > 0) {
        entries = [...entries, ...record.history].slice(-HISTORY_KEPT);
        newestFirst = undefined;
      }
      return true;
    },
    // One record per history entry: a damaged byte destroys one entry only.
    snapshot: () => [
      ...[...live.values()].map((decision) => ({ lastId, decisions: [decision] }) satisfies Change),
      ...entries.map((entry) => ({ lastId, history: [entry] }) satisfies Change),
    ],
    byId: (id) => live.get(id),
    // The newest: if a damaged record contained the end of an older decision, that decision must not become active again.
    of: ({ namespace, daemonSet }) =>
      [...live.values()]
        .filter((decision) => decision.namespace === namespace && decision.daemonSet === daemonSet)
        .toSorted((a, b) => a.id - b.id)
        .at(-1),
    all: () => [...live.values()],
    history: () => (newestFirst ??= entries.toReversed()),
  };
};
