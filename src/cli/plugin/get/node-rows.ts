import { livePod } from '../../../rollout/index.ts';
import { compareNames, toLines } from '../../../text/index.ts';
import {
  type Cell,
  createTable,
  formatSeconds,
  type OutputFormat,
  type Paint,
  phaseOf,
  type Reading,
  revisionImages,
  structured,
  toneOfPhase,
} from '../../../view/index.ts';
import type { Phase } from '../../../words/index.ts';

/** One node of a rollout. `get -o json` prints these objects, so the names are part of the interface. */
export interface NodeRow {
  node: string;
  phase: Phase;
  cause: string;
  /** Empty without a pod. */
  pod: string;
  /** Hash of the pod's revision. */
  revision: string;
  /** Of the pod's revision; empty if that is no longer kept. */
  images: readonly string[];
  /** Of the pod, RFC 3339. */
  createdAt: string;
}

/** The nodes that the DaemonSet runs on, by name. */
export const nodeRows = (reading: Reading): NodeRow[] => {
  const images = revisionImages(reading);
  const rows: NodeRow[] = [];
  for (const record of reading.ledger.records()) {
    const { phase, cause = '' } = phaseOf(reading, record);
    if (phase === undefined) continue;
    const { name: pod = '', revision = '', createdAt = 0 } = livePod(record)?.facts ?? {};
    rows.push({
      node: record.name,
      phase,
      cause,
      pod,
      revision,
      images: images.get(revision) ?? [],
      createdAt: createdAt > 0 ? new Date(createdAt).toISOString() : '',
    });
  }
  return rows.toSorted((a, b) => compareNames(a.node, b.node));
};

const age = (createdAt: string, now: number): string =>
  createdAt === '' ? '' : formatSeconds(Math.max(0, (now - Date.parse(createdAt)) / 1000));

interface Column {
  title: string;
  wide?: boolean;
  cell: (row: NodeRow, now: number) => Cell;
}

const columns: readonly Column[] = [
  { title: 'NODE', cell: ({ node }) => node },
  { title: 'PHASE', cell: ({ phase }) => ({ text: phase, tone: toneOfPhase(phase) }) },
  { title: 'CAUSE', cell: ({ cause }) => cause },
  { title: 'REVISION', cell: ({ revision }) => ({ text: revision, tone: 'dim' }) },
  { title: 'IMAGES', cell: ({ images }) => images.join(',') },
  { title: 'POD', wide: true, cell: ({ pod }) => pod },
  { title: 'AGE', wide: true, cell: ({ createdAt }, now) => age(createdAt, now) },
];

export interface NodeRowsView {
  /** A table for people; otherwise, data for programs. */
  table: boolean;
  all(reading: Reading, rows: readonly NodeRow[], now: number): string;
  /** Nodes that have changed, to be appended. */
  changed(rows: readonly NodeRow[], now: number): string;
}

/** What scripts need of the whole rollout. */
const toData = ({ kind, view, ledger, decision }: Reading, nodes: readonly NodeRow[]): object => {
  const { budget, usage, breaker, hold, complete } = decision.summary;
  return {
    kind: kind.title,
    namespace: view.namespace,
    name: view.name,
    target: ledger.state.target,
    complete,
    ...(hold && { hold: hold.kind }),
    budget: { nodes: budget, inUse: usage.occupied },
    breaker: { failures: breaker.failures, suspects: breaker.suspects, threshold: breaker.threshold },
    phases: ledger.tally.phases,
    nodes,
  };
};

export const createNodeRowsView = (format: OutputFormat | undefined, paint?: Paint): NodeRowsView => {
  if (format === 'name') {
    const all = (rows: readonly NodeRow[]): string => toLines(...rows.map(({ node }) => `node/${node}`));
    return { table: false, all: (_, rows) => all(rows), changed: all };
  }
  if (format === 'json' || format === 'yaml')
    return {
      table: false,
      all: (reading, rows) => structured(toData(reading, rows), format),
      changed: (rows) => rows.map((row) => `${format === 'yaml' ? '---\n' : ''}${structured(row, format)}`).join(''),
    };
  const shown = columns.filter(({ wide }) => !wide || format === 'wide');
  const table = createTable(
    shown.map(({ title }) => title),
    paint,
  );
  const cells = (row: NodeRow, now: number): Cell[] => shown.map(({ cell }) => cell(row, now));
  return {
    table: true,
    all: (_, rows, now) => table.withHeader(rows.map((row) => cells(row, now))),
    changed: (rows, now) => rows.map((row) => table.row(cells(row, now))).join(''),
  };
};
