import { signal } from '@preact/signals';
import { go, route } from '../../route.ts';
import { nothing, rows } from '../../store.ts';
import { text } from '../../text/index.ts';
import type { RolloutRow } from '../../types.ts';
import { matches, type Order, orders } from '../../view/overview.ts';
import { OptIn } from './opt-in.tsx';
import { Row } from './rollout-row.tsx';
import { StateStrip } from './state-strip.tsx';

const order = signal<Order>('state');

const columns: readonly { column: keyof typeof text.overview.columns; by?: Order }[] = [
  { column: 'status', by: 'state' },
  { column: 'name', by: 'name' },
  { column: 'version' },
  { column: 'progress', by: 'progress' },
  { column: 'stages' },
  { column: 'failed' },
  { column: 'left' },
  { column: 'started', by: 'age' },
];

const Heading = ({ title, by }: { title: string; by: Order | undefined }) => (
  <th role="columnheader" scope="col" aria-sort={by && by === order.value ? 'ascending' : undefined}>
    {by ? (
      <button
        type="button"
        onClick={() => {
          order.value = by;
        }}
      >
        {title}
      </button>
    ) : (
      title
    )}
  </th>
);

/** On a narrow screen a list of cards, which is why each part says what it is. */
const Table = ({ found, title }: { found: readonly RolloutRow[]; title: string }) => (
  <table role="table" class="rollouts" aria-label={title}>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ column, by }) => (
          <Heading key={column} title={text.overview.columns[column]} by={by} />
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {found.map((row) => (
        <Row key={`${row.namespace}/${row.kind}/${row.name}`} row={row} />
      ))}
    </tbody>
  </table>
);

const Found = ({ found }: { found: readonly RolloutRow[] }) => {
  const { only, search } = route.value;
  const complete = found.filter(({ state }) => state === 'complete');
  const open = found.filter(({ state }) => state !== 'complete');
  // Who looks for something wants to see it.
  const isAsked = only !== '' || search !== '' || open.length === 0;
  return (
    <>
      {open.length > 0 && <Table found={open} title={text.overview.table} />}
      {complete.length > 0 && (
        <details key={String(isAsked)} class="complete" open={isAsked}>
          <summary>{text.overview.groups.complete(complete.length)}</summary>
          <Table found={complete} title={text.overview.completeTable} />
        </details>
      )}
    </>
  );
};

const NoMatch = () => (
  <div class="empty" role="status">
    <p>{text.overview.noMatch(route.value.search)}</p>
    <button type="button" onClick={() => go({ search: '', only: '' })}>
      {text.overview.showAll}
    </button>
  </div>
);

const Nothing = () => (
  <section class="overview">
    <h1>{text.overview.title}</h1>
    {nothing.value === '' && rows.value ? (
      <OptIn />
    ) : (
      <p class="empty" role="status">
        {nothing.value || text.overview.reading}
      </p>
    )}
  </section>
);

export const Overview = () => {
  const { search, only } = route.value;
  const all = [...(rows.value?.values() ?? [])];
  if (all.length === 0) return <Nothing />;
  const found = all
    .filter(
      (row) =>
        matches(row, only) && `${row.namespace}/${row.name} ${row.status}`.toLowerCase().includes(search.toLowerCase()),
    )
    .toSorted(orders[order.value]);
  return (
    <section class="overview" aria-labelledby="rollouts">
      <div class="overview-head">
        <h1 id="rollouts">{text.overview.title}</h1>
        <label class="search">
          {text.overview.search}
          <input
            type="search"
            value={search}
            onInput={(event) => go({ search: event.currentTarget.value })}
            placeholder={text.overview.searchHint}
          />
        </label>
      </div>
      <StateStrip rows={all} />
      {found.length === 0 ? <NoMatch /> : <Found found={found} />}
    </section>
  );
};
