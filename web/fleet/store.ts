import { batch, computed, signal } from '@preact/signals';
import { followOverview, followRollout, readLabel, readLabels } from './api.ts';
import { clusterNow, freezeAges, keepTime, setClock } from './clock.ts';
import { BY_STAGE, route, UNGROUPED } from './route.ts';
import {
  type NodeCell,
  type OverviewMessage,
  type RolloutHead,
  type RolloutMessage,
  type RolloutRow,
  rolloutKey,
  type SilentCluster,
  type StreamMessage,
} from './types.ts';
import { type Mark, note, recall, withMarks } from './view/follow.ts';
import { compare, type Group, groupCells, worstFirst } from './view/groups.ts';
import type { Moment } from './view/moments.ts';

export const link = signal<'loading' | 'live' | 'silent' | 'refused'>('loading');
/** Why what is shown may be old; empty if it isn't. */
export const trouble = signal('');
/** When the dashboard said something last, epoch ms; 0 before it has. */
export const heardAt = signal(0);
/** What is shown may be old: nobody should act on it. */
export const isOld = computed(() => link.value === 'silent' || link.value === 'refused' || trouble.value !== '');
isOld.subscribe(freezeAges);
/** Undefined until they are known. */
export const rows = signal<ReadonlyMap<string, RolloutRow> | undefined>(undefined);
/** Of several clusters, those that do not answer. */
export const silent = signal<readonly SilentCluster[]>([]);
export const head = signal<RolloutHead | undefined>(undefined);
/** Why there is no rollout to show. */
export const nothing = signal('');
export const moments = signal<readonly Moment[]>([]);
export const marks = signal<readonly Mark[]>([]);
/** The labels that nodes can be grouped by, with their values. */
export const labels = signal<Readonly<Record<string, readonly string[]>>>({});
export const labelKeys = computed(() => Object.keys(labels.value));
/** The value of the label that the nodes are grouped by, by node. */
export const groupOf = signal<Readonly<Record<string, string>>>({});

/** By name. A fleet is large and changes often, so it is changed in place, and `fleet` counts its changes. */
const cells = new Map<string, NodeCell>();
const fleet = signal(0);
/** The names of the nodes in their order. */
const names = signal<readonly string[]>([]);

export { names as nodeNames };
export const cellOf = (node: string): NodeCell | undefined => (fleet.value >= 0 ? cells.get(node) : undefined);
export const size = computed(() => names.value.length);

const live = (isLive: boolean): void => {
  link.value = isLive ? 'live' : 'silent';
};

const isOfStream = (message: { type: string }): message is StreamMessage =>
  message.type === 'trouble' || message.type === 'clock';

/** Hears what every stream tells, and passes the rest on. */
const listener = <M extends OverviewMessage | RolloutMessage>(hear: (message: M) => void) => ({
  live,
  refused: (why: string): void => {
    nothing.value = why;
    if (why !== '') link.value = 'refused';
  },
  message: (message: M | StreamMessage): void =>
    batch(() => {
      // What arrives while the watches fail is no news from the cluster.
      if (trouble.value === '') heardAt.value = clusterNow();
      if (!isOfStream(message)) hear(message);
      else if (message.type === 'clock') setClock(message.now);
      else trouble.value = message.text;
    }),
});

const setRows = (message: OverviewMessage): void => {
  const next = message.type === 'rollouts' ? new Map<string, RolloutRow>() : new Map(rows.value);
  for (const row of message.rows) next.set(rolloutKey(row), row);
  if (message.type === 'change') for (const key of message.gone) next.delete(key);
  rows.value = next;
  if (message.silent) silent.value = message.silent;
};

const hearOverview = (message: OverviewMessage): void => {
  nothing.value = '';
  setRows(message);
};

/** Follows the rollouts while the address shows one of them. */
export const followRows = (): (() => void) =>
  followOverview<OverviewMessage | StreamMessage>({
    live: () => undefined,
    message(message) {
      if (!isOfStream(message)) batch(() => setRows(message));
    },
  });

const setCells = (message: Exclude<RolloutMessage, { type: 'nothing' }>): void => {
  let isOther = message.type === 'rollout';
  if (message.type === 'rollout') cells.clear();
  for (const cell of message.nodes) {
    isOther ||= !cells.has(cell[0]);
    cells.set(cell[0], cell);
  }
  if (message.type === 'change') for (const name of message.gone) isOther = cells.delete(name) || isOther;
  if (isOther) names.value = [...cells.keys()].toSorted(compare);
  fleet.value += 1;
};

const hearRollout = (message: RolloutMessage): void => {
  if (message.type === 'nothing') {
    head.value = undefined;
    cells.clear();
    names.value = [];
    nothing.value = message.why;
    return;
  }
  nothing.value = '';
  setCells(message);
  if (!message.head) return;
  const isOther = head.value?.startedAt !== message.head.startedAt;
  const before = isOther ? undefined : head.value;
  const now = clusterNow();
  const seen = isOther ? [] : moments.value;
  const isWhole = isOther || message.type === 'rollout';
  const known = isWhole ? recall(seen, message.head, cells.values(), now) : seen;
  moments.value = note(known, message.head, before, now);
  marks.value = withMarks(isOther ? [] : marks.value, message.head.marks);
  head.value = message.head;
};

/** The names of the stages in their order, as one text, which most changes of the rollout leave the same. */
const stageNames = computed(() => (head.value?.stages?.steps ?? []).map(({ name }) => name).join());
/** A label, or nothing, or the stages. */
export const groupedBy = computed(() => {
  const { group } = route.value;
  if (stageNames.value === '') return group === BY_STAGE || group === '' ? UNGROUPED : group;
  return group === '' ? BY_STAGE : group;
});

/** Names the group of a node. */
const grouping = (by: string): ((cell: NodeCell) => string) => {
  if (by === UNGROUPED) return () => '';
  if (by === BY_STAGE) return ([, , , , , , stage]) => stage;
  const values = groupOf.value;
  return ([name]) => values[name] ?? '';
};

/** The nodes that the address asks for, by group, each group by name. */
export const groups = computed((): readonly Group[] => {
  const { phase, search, owner, value } = route.value;
  const by = groupedBy.value;
  const nameOf = grouping(by);
  const isWanted = (cell: NodeCell): boolean =>
    (phase === '' || cell[1] === phase) &&
    (owner === '' || cell[7] === owner) &&
    (search === '' || cell[0].includes(search)) &&
    (value === '' || nameOf(cell) === value);
  const wanted: NodeCell[] = [];
  // One look at the signal for all cells.
  if (fleet.value < 0) return [];
  for (const name of names.value) {
    const cell = cells.get(name);
    if (cell && isWanted(cell)) wanted.push(cell);
  }
  const isFiltered = phase !== '' || search !== '' || owner !== '' || value !== '';
  const first = by === BY_STAGE ? stageNames.value.split(',') : [];
  const found = groupCells(wanted, nameOf, first).filter(({ nodes }) => nodes.length > 0 || !isFiltered);
  if (found.length === 0) return groupCells([], nameOf, ['']);
  // Stages have an order of their own.
  return by === BY_STAGE || route.value.sort === 'name' ? found : found.toSorted(worstFirst);
});

let close = (): void => undefined;
let shown = '';
let grouped = '';
/** The cluster whose nodes have the labels. */
let labelled: string | undefined;

/** Without the labels, nothing is grouped. */
const readGroups = async (label: string, cluster: string | undefined): Promise<void> => {
  const values = await readLabel(label, cluster).catch(() => ({}));
  if (grouped === label && labelled === cluster) groupOf.value = values;
};

const readKeys = async (cluster: string | undefined): Promise<void> => {
  const found = await readLabels(cluster).catch(() => ({}));
  if (labelled === cluster) labels.value = found;
};

const clear = (): void =>
  batch(() => {
    link.value = 'loading';
    trouble.value = '';
    head.value = undefined;
    nothing.value = '';
    cells.clear();
    names.value = [];
    moments.value = [];
    marks.value = [];
  });

/** Follows what the address shows. */
const followRoute = (): void => {
  const { rollout, group: named } = route.value;
  const group = !rollout || named.startsWith('.') ? '' : named;
  const key = rollout ? rolloutKey(rollout) : '/';
  // The overview has no nodes: who comes back finds the labels still there.
  const isElsewhere = rollout !== undefined && rollout.cluster !== labelled;
  if (isElsewhere) {
    labelled = rollout.cluster;
    labels.value = {};
  }
  if (group !== grouped || isElsewhere) {
    grouped = group;
    groupOf.value = {};
    if (group !== '') void readGroups(group, labelled);
  }
  if (key === shown) return;
  shown = key;
  close();
  clear();
  close = rollout ? followRollout(rollout, listener(hearRollout)) : followOverview(listener(hearOverview));
  if (rollout && labelKeys.value.length === 0) void readKeys(rollout.cluster);
};

let end: (() => void) | undefined;

export const start = (): void => {
  keepTime();
  end ??= route.subscribe(followRoute);
};

/** The next user of the page must not see what the last one saw. */
export const forget = (): void => {
  end?.();
  end = undefined;
  close();
  shown = '';
  rows.value = undefined;
  silent.value = [];
  labels.value = {};
  clear();
};
