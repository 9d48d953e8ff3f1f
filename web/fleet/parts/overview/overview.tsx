import { signal } from '@preact/signals';
import { go, route } from '../../route.ts';
import { session } from '../../session.ts';
import { nothing, rows, silent } from '../../store.ts';
import { text } from '../../text/index.ts';
import { type RolloutRow, rolloutKey } from '../../types.ts';
import { clustersIn, matches, type Order, orders } from '../../view/overview.ts';
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
        <Row key={rolloutKey(row)} row={row} />
      ))}
    </tbody>
  </table>
);

const isOpen = ({ state }: RolloutRow): boolean => state !== 'complete';

interface FoundProps {
  found: readonly RolloutRow[];
  /** Whether those that are complete are unfolded. */
  isAsked: boolean;
  /** Where there are several. */
  cluster?: string;
}

const Found = ({ found, isAsked, cluster }: FoundProps) => {
  const open = found.filter(isOpen);
  const complete = found.filter((row) => !isOpen(row));
  const titleOf = (table: string): string => (cluster === undefined ? table : text.overview.tableOf(cluster, table));
  return (
    <>
      {open.length > 0 && <Table found={open} title={titleOf(text.overview.table)} />}
      {complete.length > 0 && (
        <details key={String(isAsked)} class="complete" open={isAsked}>
          <summary>{text.overview.groups.complete(complete.length)}</summary>
          <Table found={complete} title={titleOf(text.overview.completeTable)} />
        </details>
      )}
    </>
  );
};

interface ClusterProps extends Required<FoundProps> {
  /** Why it does not answer; empty while it was not heard of yet; undefined if it does answer. */
  why: string | undefined;
}

const Silent = ({ why, hasRows }: { why: string; hasRows: boolean }) => (
  <p class={why === '' ? 'soft' : 'silent'} role="status">
    {why === '' ? (
      text.overview.connecting
    ) : (
      <>
        <strong>{hasRows ? text.overview.stale : text.overview.silent}</strong> {why}
      </>
    )}
  </p>
);

/** The rollouts of one cluster of several. */
const Cluster = ({ cluster, found, isAsked, why }: ClusterProps) => (
  <section class="cluster" aria-label={cluster}>
    <h2>{cluster}</h2>
    {why !== undefined && <Silent why={why} hasRows={found.length > 0} />}
    {found.length > 0 ? (
      <Found found={found} isAsked={isAsked} cluster={cluster} />
    ) : (
      why === undefined && <p class="soft">{text.overview.noRollouts}</p>
    )}
  </section>
);

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

interface ClustersProps extends Omit<FoundProps, 'cluster'> {
  clusters: readonly string[];
  isFiltered: boolean;
}

/** In the order that the user gave. One that does not answer is never left out. */
const Clusters = ({ clusters, found, isAsked, isFiltered }: ClustersProps) => {
  const byCluster = Map.groupBy(found, ({ cluster }) => cluster);
  const whys = new Map(silent.value.map(({ cluster, why }) => [cluster, why]));
  return clusters
    .filter((cluster) => !isFiltered || byCluster.has(cluster) || whys.has(cluster))
    .map((cluster) => (
      <Cluster
        key={cluster}
        cluster={cluster}
        found={byCluster.get(cluster) ?? []}
        isAsked={isAsked}
        why={whys.get(cluster)}
      />
    ));
};

const textOf = ({ cluster = '', namespace, name, status }: RolloutRow): string =>
  `${cluster} ${namespace}/${name} ${status}`.toLowerCase();

export const Overview = () => {
  const { search, only } = route.value;
  const all = [...(rows.value?.values() ?? [])];
  const clusters = session.value?.clusters ?? clustersIn(all, silent.value);
  if (all.length === 0 && !(clusters && rows.value)) return <Nothing />;
  const found = all
    .filter((row) => matches(row, only) && textOf(row).includes(search.toLowerCase()))
    .toSorted(orders[order.value]);
  const isFiltered = only !== '' || search !== '';
  // Who looks for something wants to see it.
  const isAsked = isFiltered || !found.some(isOpen);
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
            placeholder={clusters ? text.overview.searchClustersHint : text.overview.searchHint}
          />
        </label>
      </div>
      <StateStrip rows={all} clusters={clusters?.length} />
      {found.length === 0 && isFiltered && <NoMatch />}
      {clusters ? (
        <Clusters clusters={clusters} found={found} isAsked={isAsked} isFiltered={isFiltered} />
      ) : (
        <Found found={found} isAsked={isAsked} />
      )}
    </section>
  );
};
