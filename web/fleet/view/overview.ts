import {
  byUrgency,
  type RolloutRow,
  type RolloutState,
  rolloutStates,
  type SilentCluster,
  type StateGroup,
  stateGroups,
  type Tone,
} from '../types.ts';
import { compare } from './groups.ts';

/** What the overview can be narrowed to: rollouts in some states, or with nodes that are offline. */
export const filters = ['stopped', 'person', 'running', 'waiting', 'complete', 'offline'] as const satisfies readonly (
  | StateGroup
  | 'offline'
)[];
export type Filter = (typeof filters)[number];

type Row = Pick<RolloutRow, 'cluster' | 'namespace' | 'name' | 'state' | 'nodes' | 'startedAt'>;

const isIn = (group: StateGroup, state: RolloutState): boolean =>
  (stateGroups[group] as readonly RolloutState[]).includes(state);

export const matches = ({ state, nodes }: Pick<Row, 'state' | 'nodes'>, only: Filter | ''): boolean => {
  if (only === '') return true;
  return only === 'offline' ? (nodes['offline'] ?? 0) > 0 : isIn(only, state);
};

/** How many rollouts a filter leaves. */
export const countOf = (rows: readonly Row[], only: Filter): number => rows.filter((row) => matches(row, only)).length;

/** What tells most about the nodes: of each cluster, the rollout with the most of them. */
export const widest = <R extends Row>(rows: readonly R[]): readonly R[] => {
  const most = new Map<string | undefined, R>();
  for (const row of rows) {
    const { eligible = 0 } = row.nodes;
    if (eligible > (most.get(row.cluster)?.nodes['eligible'] ?? 0)) most.set(row.cluster, row);
  }
  return [...most.values()];
};

const urgency = (state: RolloutState): number => byUrgency.indexOf(state);

/** The most urgent state of all; undefined without rollouts. */
const worstState = (rows: Iterable<Pick<Row, 'state'>>): RolloutState | undefined => {
  const states = new Set(Array.from(rows, ({ state }) => state));
  return byUrgency.find((state) => states.has(state));
};

/** The clusters that are known of, where there are several: for a page that could not ask who looks at it. */
export const clustersIn = (
  rows: readonly Pick<Row, 'cluster' | 'name'>[],
  silent: readonly SilentCluster[],
): readonly string[] | undefined => {
  const found = new Set([...rows, ...silent].flatMap(({ cluster }) => (cluster === undefined ? [] : [cluster])));
  return found.size > 0 ? [...found].toSorted(compare) : undefined;
};

/** The clusters that can't be read. Those that have not been heard of yet are not among them. */
export const unread = (silent: readonly SilentCluster[]): readonly SilentCluster[] =>
  silent.filter(({ why }) => why !== '');

/** What a tab says of the overview: the worst state of all, or that somebody has to look at a cluster; undefined for nothing. */
export const worstOf = (
  rows: Iterable<Pick<Row, 'state'>>,
  silent: readonly SilentCluster[],
): { tone: Tone; glyph: string } | undefined => {
  const state = worstState(rows);
  const known = state && rolloutStates[state];
  if (unread(silent).length === 0 || known?.tone === 'bad' || known?.tone === 'wait') return known;
  return { tone: 'wait', glyph: '?' };
};

/** Of the nodes that are online; undefined where none is. */
export const percentOf = ({ nodes }: Pick<Row, 'nodes'>): number | undefined => {
  const online = nodes['online'] ?? 0;
  return online === 0 ? undefined : Math.floor((100 * (nodes['updated'] ?? 0)) / online);
};

export type Order = 'state' | 'name' | 'progress' | 'age';

const byName = (a: Row, b: Row): number =>
  compare(a.name, b.name) || compare(a.namespace, b.namespace) || compare(a.cluster ?? '', b.cluster ?? '');
const progress = (row: Row): number => percentOf(row) ?? 100;

/** Each ends with the name. */
export const orders: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  state: (a, b) => urgency(a.state) - urgency(b.state) || byName(a, b),
  name: byName,
  progress: (a, b) => progress(a) - progress(b) || byName(a, b),
  age: (a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? '') || byName(a, b),
};
