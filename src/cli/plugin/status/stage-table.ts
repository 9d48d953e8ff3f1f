import {
  type Cell,
  createTable,
  formatSeconds,
  openStageOf,
  type Paint,
  promotionWay,
  timeUntil,
  toneOfStage,
} from '../../../view/index.ts';
import type { DaemonRollout, DaemonRolloutStage } from '../../../words/index.ts';

/** `5m ago, approved by alice`; empty for a stage that is not passed. */
const promotionOf = (stage: DaemonRolloutStage, now: number): string => {
  const seconds = (now - Date.parse(stage.promotedAt ?? '')) / 1000;
  const ago = Number.isFinite(seconds) ? `${formatSeconds(Math.max(0, seconds))} ago` : '';
  return [ago, promotionWay(stage)].filter((part) => part !== '').join(', ');
};

/** `errors Passing, latency NoResult (the server does not answer)`: what was answered, where it is not as it should be. */
const checksOf = ({ checks = [] }: DaemonRolloutStage, wide: boolean): string =>
  checks
    .map(({ name, state, message }) => {
      const said = wide || state === 'NoResult' || state === 'Failing' || state === 'Failed' ? message : undefined;
      return `${name} ${state}${said === undefined ? '' : ` (${said})`}`;
    })
    .join(', ');

/** `2/5`, out of the online nodes, as in the row of the rollout; `2/5 (1 exposed)` if pods were recreated before it opened. */
const updatedOf = ({ nodes: { updated, online, exposed = 0 } }: DaemonRolloutStage): string =>
  `${updated}/${online}${exposed > 0 ? ` (${exposed} exposed)` : ''}`;

const HEADER = ['STAGE', 'STATE', 'UPDATED', 'NODES', 'SOAK-LEFT', 'CHECKS', 'PROMOTED', 'AWAITS'];

/** The stages of rollouts, a line each, below their rows. `wide`: with what each check answered. */
export const createStageTable = (wide: boolean, paint?: Paint) => {
  const table = createTable(HEADER, paint);
  const rows = ({ status }: DaemonRollout, now: number): Cell[][] =>
    (status?.stages ?? []).map((stage) => [
      stage.name,
      { text: stage.state, tone: toneOfStage(stage) },
      updatedOf(stage),
      String(stage.nodes.total),
      timeUntil(stage.state === 'Open' ? stage.soakUntil : undefined, now),
      checksOf(stage, wide),
      promotionOf(stage, now),
      stage.awaits?.message ?? '',
    ]);
  const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
  return {
    /** Empty for a rollout without stages. */
    withHeader(rollout: DaemonRollout, now: number): string {
      const lines = rows(rollout, now);
      return lines.length > 0 ? indented(table.withHeader(lines)) : '';
    },
    lines: (rollout: DaemonRollout, now: number): string =>
      indented(
        rows(rollout, now)
          .map((cells) => table.row(cells))
          .join(''),
      ),
  };
};

/** `canary (3/8)`: the stage that is open; empty without one. */
export const openStage = (stages: readonly DaemonRolloutStage[] | undefined): string => {
  const open = openStageOf(stages);
  return open ? `${open.name} (${open.nodes.updated}/${open.nodes.online})` : '';
};
