import { type DaemonSetRef, type Decision, decisionStates, type HistoryEntry } from '../types.ts';

/** What is on disk: the decisions that are open or acting, and the history. */
export interface Records {
  /** The highest id so far, so that ids keep growing after old decisions are dropped. */
  lastId: number;
  decisions: readonly Decision[];
  /** Newest first. */
  history: readonly HistoryEntry[];
}

export const noRecords: Records = { lastId: 0, decisions: [], history: [] };

const HISTORY_KEPT = 500;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

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
  decisionStates.some((state) => state === value.state) &&
  'decision' in value &&
  isObject(value.decision);

const isEntry = (value: unknown): value is HistoryEntry =>
  isObject(value) && 'at' in value && typeof value.at === 'string' && 'what' in value && typeof value.what === 'string';

const isRecords = (value: unknown): value is Records =>
  isObject(value) &&
  'lastId' in value &&
  typeof value.lastId === 'number' &&
  'decisions' in value &&
  Array.isArray(value.decisions) &&
  value.decisions.every(isDecision) &&
  'history' in value &&
  Array.isArray(value.history) &&
  value.history.every(isEntry);

export const parseRecords = (value: unknown): Records => {
  if (!isRecords(value)) throw new Error('it holds no decisions');
  return value;
};

const isLive = ({ state }: Decision): boolean => state === 'open' || state === 'acting';

/** The records with one atomic change. Decisions that are over are dropped. */
export const recordsWith = (
  before: Records,
  { decisions = [], history = [] }: Partial<Pick<Records, 'decisions' | 'history'>>,
): Records => {
  const others = before.decisions.filter(({ id }) => !decisions.some((changed) => changed.id === id));
  return {
    lastId: Math.max(before.lastId, ...decisions.map(({ id }) => id)),
    decisions: [...others, ...decisions.filter(isLive)],
    history: [...history, ...before.history].slice(0, HISTORY_KEPT),
  };
};

/** The decision for this DaemonSet that is open or acting. */
export const decisionOf = ({ decisions }: Records, { namespace, daemonSet }: DaemonSetRef): Decision | undefined =>
  decisions.find((decision) => decision.namespace === namespace && decision.daemonSet === daemonSet);
