import { byUrgency, type RolloutRow, type RolloutState, type StateGroup, stateGroups } from '../types.ts';
import { compare } from './groups.ts';

/** What the overview can be narrowed to: rollouts in some states, or with nodes that are offline. */
export const filters = ['stopped', 'person', 'running', 'waiting', 'complete', 'offline'] as const satisfies readonly (
  | StateGroup
  | 'offline'
)[];
export type Filter = (typeof filters)[number];

type Row = Pick<RolloutRow, 'namespace' | 'name' | 'state' | 'nodes' | 'startedAt'>;

const isIn = (group: StateGroup, state: RolloutState): boolean =>
  (stateGroups[group] as readonly RolloutState[]).includes(state);

export const matches = ({ state, nodes }: Pick<Row, 'state' | 'nodes'>, only: Filter | ''): boolean => {
  if (only === '') return true;
  return only === 'offline' ? (nodes['offline'] ?? 0) > 0 : isIn(only, state);
};

/** How many rollouts a filter leaves. */
export const countOf = (rows: readonly Row[], only: Filter): number => rows.filter((row) => matches(row, only)).length;

/** What tells most about the nodes of the cluster: the rollout with the most of them. */
export const widest = <R extends Row>(rows: readonly R[]): R | undefined =>
  rows.reduce<R | undefined>(
    (most, row) => ((row.nodes['eligible'] ?? 0) > (most?.nodes['eligible'] ?? 0) ? row : most),
    undefined,
  );

const urgency = (state: RolloutState): number => byUrgency.indexOf(state);

/** The most urgent state of all; undefined without rollouts. */
export const worstState = (rows: Iterable<Pick<Row, 'state'>>): RolloutState | undefined => {
  const states = new Set(Array.from(rows, ({ state }) => state));
  return byUrgency.find((state) => states.has(state));
};

/** Of the nodes that are online; undefined where none is. */
export const percentOf = ({ nodes }: Pick<Row, 'nodes'>): number | undefined => {
  const online = nodes['online'] ?? 0;
  return online === 0 ? undefined : Math.floor((100 * (nodes['updated'] ?? 0)) / online);
};

export type Order = 'state' | 'name' | 'progress' | 'age';

const byName = (a: Row, b: Row): number => compare(a.name, b.name) || compare(a.namespace, b.namespace);
const progress = (row: Row): number => percentOf(row) ?? 100;

/** Each ends with the name. */
export const orders: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  state: (a, b) => urgency(a.state) - urgency(b.state) || byName(a, b),
  name: byName,
  progress: (a, b) => progress(a) - progress(b) || byName(a, b),
  age: (a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? '') || byName(a, b),
};
