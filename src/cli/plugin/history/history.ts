import { listAll, pods } from '../../../kube/index.ts';
import { controllerOf } from '../../../rollout/index.ts';
import { toLines } from '../../escape.ts';
import type { Io } from '../../io.ts';
import { type Connection, type ConnectionFlags, withCluster } from '../connection.ts';
import { readName } from '../kinds/names.ts';
import { createTable, formatSeconds, type OutputFormat, structured } from '../text.ts';
import { noSuchRevision } from './choose-revision.ts';
import { renderPastStages, renderRollouts } from './past-rollouts.ts';
import { HASH_LABEL, type Revision, type RevisionHistory, readHistory, selectorOf } from './revisions.ts';
import { diffTemplates, renderDifference } from './template-diff.ts';

export interface HistoryFlags extends ConnectionFlags {
  revision?: number;
  output?: OutputFormat;
}

/** The number of the DaemonSet's pods of each revision, by hash. */
const countPods = async (
  { client, namespace }: Connection,
  { daemonSet }: RevisionHistory,
): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const pod of await listAll(client, pods, { namespace, labelSelector: selectorOf(daemonSet) })) {
    const hash = pod.metadata?.labels?.[HASH_LABEL];
    if (hash === undefined || controllerOf(pod)?.uid !== daemonSet.metadata?.uid) continue;
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
};

/** One line of the table. */
interface Row extends Omit<Revision, 'template'> {
  pods: number;
  present: boolean;
  lastComplete: boolean;
  rolledBack: boolean;
}

const toRow = (kept: RevisionHistory, revision: Revision, podCounts: ReadonlyMap<string, number>): Row => {
  const { number, name, hash, createdAt, images, changeCause } = revision;
  return {
    number,
    name,
    hash,
    createdAt,
    images,
    changeCause,
    pods: podCounts.get(hash) ?? 0,
    present: name === kept.present?.name,
    lastComplete: name === kept.lastComplete?.name,
    rolledBack: hash === kept.rolledBackHash,
  };
};

const stateOf = ({ present, lastComplete, rolledBack }: Row): string =>
  [present && 'present', lastComplete && 'last complete', rolledBack && 'rolled back'].filter(Boolean).join(', ');

interface Column {
  title: string;
  wide?: boolean;
  cell: (row: Row, now: number) => string;
}

const columns: readonly Column[] = [
  { title: 'REVISION', cell: ({ number }) => String(number) },
  { title: 'HASH', cell: ({ hash }) => hash },
  { title: 'NAME', wide: true, cell: ({ name }) => name },
  { title: 'AGE', cell: ({ createdAt }, now) => formatSeconds(Math.max(0, now - Date.parse(createdAt)) / 1000) },
  { title: 'CREATED', wide: true, cell: ({ createdAt }) => createdAt },
  { title: 'PODS', cell: (row) => String(row.pods) },
  { title: 'STATE', cell: stateOf },
  { title: 'IMAGES', cell: ({ images }) => images.join(',') },
  { title: 'CHANGE-CAUSE', cell: ({ changeCause }) => changeCause ?? '' },
];

const renderTable = (rows: readonly Row[], wide: boolean, now: number): string => {
  const shown = columns.filter((column) => wide || !column.wide);
  return createTable(shown.map(({ title }) => title)).withHeader(
    rows.map((row) => shown.map(({ cell }) => cell(row, now))),
  );
};

/** One revision: its row, what a rollback to it would change, and its template. */
const renderOne = ({ present }: RevisionHistory, row: Row, { template }: Revision, changes: string[]): string => {
  const state = stateOf(row);
  const title = `revision ${row.number} (${row.name})${state === '' ? '' : `: ${state}`}`;
  const differs =
    changes.length > 0
      ? [
          `Rolling back to it would change${present ? `, compared with revision ${present.number}` : ''}:`,
          ...changes.map((line) => `  ${line}`),
        ]
      : ['It is the same as the current template.'];
  const head = toLines(
    title,
    `created ${row.createdAt}, used by ${row.pods} pod${row.pods === 1 ? '' : 's'}`,
    ...(row.changeCause === undefined ? [] : [`change-cause: ${row.changeCause}`]),
    '',
    ...differs,
    '',
  );
  return head + structured({ template: template ?? null }, 'yaml');
};

/** Prints the revisions of a DaemonSet and its last rollouts, or one revision. */
export const showHistory = async (text: string, flags: HistoryFlags, io: Io): Promise<void> => {
  const { output, revision: number } = flags;
  const named = readName(text);
  await withCluster(flags, io, async (connection) => {
    const kept = await readHistory(connection, named);
    const { kind, name } = kept;
    const wanted = kept.revisions.filter((revision) => number === undefined || revision.number === number);
    if (number !== undefined && wanted.length === 0) throw noSuchRevision(kept, number);
    if (output === 'name') {
      io.data(toLines(...wanted.map((revision) => `controllerrevision.apps/${revision.name}`)));
      return;
    }
    const podCounts = await countPods(connection, kept);
    const rows = wanted.map((revision) => toRow(kept, revision, podCounts));
    const [row] = rows;
    const [one] = wanted;
    const daemonSet = { kind: kind.label, namespace: kept.namespace, name };
    if (number !== undefined && row && one) {
      const changes = diffTemplates(kept.template, one.template);
      if (output === 'json' || output === 'yaml')
        io.data(structured({ daemonSet, ...row, changes, template: one.template }, output));
      else io.stdout(renderOne(kept, row, one, changes.map(renderDifference)));
      return;
    }
    const rollouts = (kept.status?.history ?? []).toReversed();
    if (output === 'json' || output === 'yaml') {
      io.data(structured({ daemonSet, revisions: rows, rollouts }, output));
      return;
    }
    const wide = output === 'wide';
    const now = connection.env.clock.now();
    if (rows.length === 0) io.stderr(toLines(`${kind.title} ${kept.namespace}/${name} has no revisions.`));
    else io.stdout(renderTable(rows, wide, now));
    if (rollouts.length > 0) io.stdout(`\n${renderRollouts(rollouts, wide, now)}`);
    const stages = renderPastStages(rollouts, wide, now);
    if (stages !== '') io.stdout(`\n${stages}`);
    if (rows.length > 0 && !kept.present)
      io.stderr(toLines(`Note: the ${kind.podController} has not recorded the current template yet.`));
  });
};
