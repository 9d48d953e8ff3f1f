import {
  type Cell,
  changedImages,
  createTable,
  durationMs,
  formatSeconds,
  type Paint,
  toneOfResult,
} from '../../view/index.ts';
import type { DaemonRolloutHistory } from '../../words/index.ts';

const seconds = (ms: number | undefined): string => (ms === undefined ? '' : formatSeconds(ms / 1_000));

type PastStage = NonNullable<DaemonRolloutHistory['stages']>[number];

interface Column {
  title: string;
  wide?: boolean;
  cell: (rollout: DaemonRolloutHistory, now: number) => Cell;
}

const columns: readonly Column[] = [
  { title: 'ROLLOUT', cell: ({ rollout }) => String(rollout) },
  {
    title: 'AGE',
    cell: ({ startedAt }, now) =>
      seconds(startedAt === undefined ? undefined : Math.max(0, now - Date.parse(startedAt))),
  },
  { title: 'STARTED', wide: true, cell: ({ startedAt = '' }) => startedAt },
  { title: 'FROM', cell: ({ from }) => (from ? String(from.number) : '') },
  { title: 'TO', cell: ({ to }) => String(to.number) },
  { title: 'RESULT', cell: ({ result }) => ({ text: result, tone: toneOfResult(result) }) },
  { title: 'NODES', cell: ({ nodes }) => String(nodes) },
  { title: 'FAILED', cell: ({ failures }) => ({ text: String(failures), tone: failures > 0 ? 'bad' : undefined }) },
  { title: 'DURATION', cell: (rollout, now) => seconds(durationMs(rollout, now)) },
  { title: 'FINISHED', wide: true, cell: ({ finishedAt = '' }) => finishedAt },
  { title: 'ALL-NODES', wide: true, cell: ({ allNodesUpdatedAt = '' }) => allNodesUpdatedAt },
  { title: 'HALTED', wide: true, cell: ({ haltedAt = '' }) => haltedAt },
  { title: 'ENDED', wide: true, cell: ({ endedAt = '' }) => endedAt },
  { title: 'CHANGED-BY', cell: ({ changedBy }) => changedBy?.manager ?? '' },
  { title: 'CHANGED', wide: true, cell: ({ changedBy }) => changedBy?.time ?? '' },
  { title: 'IMAGES', cell: changedImages },
];

interface StageRow {
  rollout: number;
  stage: PastStage;
}

const decided = { Approve: 'approved', Promote: 'promoted' };

/** `ann approved, bob promoted`. */
const decidedBy = ({ decisions = [] }: PastStage): string =>
  decisions.map(({ decision, by }) => `${by} ${decided[decision]}`).join(', ');

const comments = ({ decisions = [] }: PastStage): string => decisions.flatMap(({ comment = [] }) => comment).join('; ');

interface StageColumn {
  title: string;
  wide?: boolean;
  cell: (row: StageRow, now: number) => string;
}

const stageColumns: readonly StageColumn[] = [
  { title: 'ROLLOUT', cell: ({ rollout }) => String(rollout) },
  { title: 'STAGE', cell: ({ stage }) => stage.name },
  { title: 'OPENED', wide: true, cell: ({ stage }) => stage.openedAt },
  {
    title: 'PASSED',
    cell: ({ stage: { promotedAt } }, now) =>
      promotedAt === undefined ? '' : `${seconds(Math.max(0, now - Date.parse(promotedAt)))} ago`,
  },
  { title: 'PASSED-AT', wide: true, cell: ({ stage: { promotedAt = '' } }) => promotedAt },
  { title: 'HOW', cell: ({ stage: { promotion = '' } }) => promotion },
  { title: 'DECIDED-BY', cell: ({ stage }) => decidedBy(stage) },
  {
    title: 'DECIDED',
    wide: true,
    cell: ({ stage: { decisions = [] } }) => decisions.flatMap(({ at = [] }) => at).join(', '),
  },
  { title: 'COMMENT', cell: ({ stage }) => comments(stage) },
];

/** The stages of the rollouts as a table, in the given order; empty without any. */
export const renderPastStages = (
  rollouts: readonly DaemonRolloutHistory[],
  wide: boolean,
  now: number,
  paint?: Paint,
): string => {
  const rows = rollouts.flatMap(({ rollout, stages = [] }) => stages.map((stage): StageRow => ({ rollout, stage })));
  if (rows.length === 0) return '';
  const shown = stageColumns.filter((column) => wide || !column.wide);
  return createTable(
    shown.map(({ title }) => title),
    paint,
  ).withHeader(rows.map((row) => shown.map(({ cell }) => cell(row, now))));
};

/** The rollouts as a table, in the given order. */
export const renderRollouts = (
  rollouts: readonly DaemonRolloutHistory[],
  wide: boolean,
  now: number,
  paint?: Paint,
): string => {
  const shown = columns.filter((column) => wide || !column.wide);
  return createTable(
    shown.map(({ title }) => title),
    paint,
  ).withHeader(rollouts.map((rollout) => shown.map(({ cell }) => cell(rollout, now))));
};
