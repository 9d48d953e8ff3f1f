import { linkTo } from '../../route.ts';
import { text } from '../../text/index.ts';
import { type RolloutRow, rolloutStates } from '../../types.ts';
import { ago, until } from '../../view/ago.ts';
import { percentOf } from '../../view/overview.ts';
import { PhaseBar } from '../phase-bar.tsx';
import { StageDots } from '../rollout/stages.tsx';
import { Version } from '../version.tsx';

const State = ({ row: { state, status, why } }: { row: RolloutRow }) => {
  const { tone, glyph } = rolloutStates[state];
  const isWhy = why !== '' && (tone === 'bad' || tone === 'wait');
  return (
    <>
      <span class={`state ${tone}`}>
        <span class="glyph" aria-hidden="true">
          {glyph}
        </span>
        <span>{status}</span>
      </span>
      {isWhy && (
        <span class="why-line" title={why}>
          {why}
        </span>
      )}
    </>
  );
};

/** As a list of cards shows it, without the heads of the columns. */
const Label = ({ title }: { title: string }) => <span class="label">{title} </span>;

export const Row = ({ row }: { row: RolloutRow }) => {
  const { columns } = text.overview;
  const percent = percentOf(row);
  const failed = row.nodes['failed'] ?? 0;
  const left = until(row.estimatedFinishAt);
  return (
    <tr role="row">
      <td role="cell" class="cell-state">
        <State row={row} />
      </td>
      <th role="rowheader" scope="row" class="cell-name">
        <a href={linkTo(row)}>{row.name}</a>
        <span class="soft">
          {row.namespace}
          {row.kind === 'ads' && ` · ${text.overview.advanced}`}
        </span>
      </th>
      <td role="cell" class="cell-version">
        <Version version={row.version} /> <code class="hash">{row.target}</code>
      </td>
      <td role="cell" class="cell-progress">
        <PhaseBar phases={row.nodes} />
        <span class="percent">{percent === undefined ? text.overview.noneOnline : text.overview.percent(percent)}</span>
      </td>
      <td role="cell" class="cell-stages">
        {row.stages && (
          <>
            <Label title={columns.stages} />
            <StageDots stages={row.stages} />
          </>
        )}
      </td>
      <td role="cell" class={failed > 0 ? 'cell-failed' : 'cell-failed none'}>
        <Label title={columns.failed} />
        <span class={failed > 0 ? 'bad' : 'faint'}>{failed}</span>
      </td>
      <td role="cell" class="cell-left" title={row.estimatedFinishAt}>
        {left !== '' && (
          <>
            <Label title={columns.left} />
            {left}
          </>
        )}
      </td>
      <td role="cell" class="cell-started" title={row.startedAt}>
        {row.changedBy !== undefined && <span>{row.changedBy}</span>} <span class="soft">{ago(row.startedAt)}</span>
      </td>
    </tr>
  );
};
