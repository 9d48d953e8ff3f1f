import { signal } from '@preact/signals';
import { go, linkTo, route } from '../route.ts';
import { nothing, rows } from '../store.ts';
import { text } from '../text/index.ts';
import { bySeverity, type RolloutRow } from '../types.ts';
import { ago } from '../view/ago.ts';

type Order = 'name' | 'status' | 'progress' | 'age';

const order = signal<Order>('status');

const progress = ({ nodes }: RolloutRow): number => {
  const all = nodes['eligible'] ?? 0;
  return all === 0 ? 1 : (nodes['updated'] ?? 0) / all;
};

/** What needs a person comes first. */
const urgency = ({ halted, doubtful, nodes, complete, paused }: RolloutRow): number => {
  if (halted) return 0;
  if (doubtful) return 1;
  if ((nodes['failed'] ?? 0) > 0) return 2;
  if (!complete && !paused) return 3;
  return paused ? 4 : 5;
};

const fullName = ({ namespace, name }: RolloutRow): string => `${namespace}/${name}`;
const byName = (a: RolloutRow, b: RolloutRow): number =>
  fullName(a).localeCompare(fullName(b), text.language, { numeric: true });

const orders: Readonly<Record<Order, (a: RolloutRow, b: RolloutRow) => number>> = {
  name: byName,
  status: (a, b) => urgency(a) - urgency(b) || byName(a, b),
  progress: (a, b) => progress(a) - progress(b) || byName(a, b),
  age: (a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? '') || byName(a, b),
};

const Heading = ({ title, by }: { title: string; by?: Order }) => (
  <th scope="col" aria-sort={by && by === order.value ? 'ascending' : undefined}>
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

/** The nodes of a rollout by phase, as one bar. */
const Bar = ({ row }: { row: RolloutRow }) => {
  const all = row.nodes['eligible'] ?? 0;
  const parts = bySeverity.toReversed().flatMap((phase) => {
    const count = row.nodes[phase] ?? 0;
    return count > 0 ? [{ phase, count }] : [];
  });
  const said = parts.map(({ phase, count }) => text.overview.nodes(count, phase)).join(', ');
  return (
    <div class="bar" role="img" aria-label={said === '' ? text.overview.noNodes : said} title={said}>
      {parts.map(({ phase, count }) => (
        <span key={phase} class={`fill-${phase}`} style={{ flexGrow: count / all }} />
      ))}
    </div>
  );
};

const Row = ({ row }: { row: RolloutRow }) => (
  <tr>
    <th scope="row">
      <a href={linkTo(row)}>{row.name}</a> <span class="soft">{row.kind === 'ads' ? text.overview.advanced : ''}</span>
    </th>
    <td>{row.namespace}</td>
    <td class={row.halted ? 'bad' : row.doubtful ? 'wait' : ''}>{row.status}</td>
    <td class="progress">
      <Bar row={row} />
      <span class="soft">{text.overview.updated(row.nodes['updated'] ?? 0, row.nodes['eligible'] ?? 0)}</span>
    </td>
    <td>{row.nodes['offline'] ?? 0}</td>
    <td class={(row.nodes['failed'] ?? 0) > 0 ? 'bad' : ''}>{row.nodes['failed'] ?? 0}</td>
    <td>{row.strategy === 'ota' && row.budget.limit === 0 ? '-' : `${row.budget.inUse}/${row.budget.limit}`}</td>
    <td>
      <code>{row.target}</code>
    </td>
    <td>{ago(row.startedAt)}</td>
  </tr>
);

export const Overview = () => {
  const { search } = route.value;
  const { columns } = text.overview;
  const all = [...(rows.value?.values() ?? [])];
  const found = all
    .filter((row) => `${row.namespace}/${row.name} ${row.status}`.toLowerCase().includes(search.toLowerCase()))
    .toSorted(orders[order.value]);
  if (all.length === 0)
    return (
      <section class="empty">
        <h1>{text.overview.title}</h1>
        <p role="status">{nothing.value || (rows.value ? text.overview.empty : text.overview.reading)}</p>
      </section>
    );
  return (
    <section aria-labelledby="rollouts">
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
      <div class="scroll" tabIndex={0} role="region" aria-label={text.overview.table}>
        <table>
          <thead>
            <tr>
              <Heading title={columns.name} by="name" />
              <Heading title={columns.namespace} />
              <Heading title={columns.status} by="status" />
              <Heading title={columns.progress} by="progress" />
              <Heading title={columns.offline} />
              <Heading title={columns.failed} />
              <Heading title={columns.budget} />
              <Heading title={columns.target} />
              <Heading title={columns.started} by="age" />
            </tr>
          </thead>
          <tbody>
            {found.map((row) => (
              <Row key={`${row.namespace}/${row.kind}/${row.name}`} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="empty">{text.overview.noMatch(search)}</p>}
    </section>
  );
};
