import type { ListOptions } from '../../kube/index.ts';
import { daemonRollouts } from '../../native/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import { interruption } from './interruption.ts';
import type { StatusFlags } from './status-command.ts';
import { type OutputFormat, readDaemonSetName, readFormat, structured, table } from './text.ts';

const number = (value: number | undefined): string => String(value ?? 0);

const clockTime = (dateTime: string | undefined): string => dateTime?.slice(11, 16) ?? '';

interface Column {
  title: string;
  wide?: boolean;
  cell: (status: DaemonRolloutStatus) => string;
}

const columns: readonly Column[] = [
  { title: 'STATUS', cell: (s) => s.summary ?? 'Not started' },
  { title: 'TARGET', cell: (s) => s.target?.hash ?? '' },
  { title: 'UPDATED', cell: (s) => `${number(s.nodes?.updated)}/${number(s.nodes?.online)}` },
  { title: 'UPDATING', cell: (s) => number(s.nodes?.updating) },
  { title: 'OFFLINE', cell: (s) => number(s.nodes?.offline) },
  { title: 'FAILED', cell: (s) => number(s.nodes?.failed) },
  { title: 'BUDGET', cell: (s) => `${number(s.budget?.inUse)}/${number(s.budget?.nodes)}` },
  { title: 'FINISH', cell: (s) => clockTime(s.estimatedFinishAt) },
  { title: 'OUTDATED', wide: true, cell: (s) => number(s.nodes?.outdated) },
  { title: 'BROKEN', wide: true, cell: (s) => number(s.nodes?.broken) },
  { title: 'SETTLING', wide: true, cell: (s) => number(s.nodes?.settling) },
  { title: 'HELD', wide: true, cell: (s) => number(s.nodes?.held) },
  { title: 'MISSING', wide: true, cell: (s) => number(s.nodes?.missing) },
  { title: 'SUSPECTS', wide: true, cell: (s) => number(s.breaker?.suspects) },
  { title: 'MAX-UNAVAILABLE', wide: true, cell: (s) => s.budget?.maxUnavailable ?? '' },
];

export const renderStatus = (rollouts: readonly DaemonRollout[], format: OutputFormat, namespaces: boolean): string => {
  if (format === 'json' || format === 'yaml')
    return structured(
      rollouts.length === 1 ? rollouts[0] : { apiVersion: 'v1', kind: 'List', items: rollouts },
      format,
    );
  if (format === 'name') return rollouts.map(({ metadata }) => `daemonrollout.edgeset.io/${metadata.name}\n`).join('');
  const shown = columns.filter(({ wide }) => !wide || format === 'wide');
  const rows = rollouts.map(({ metadata, status = {} }) => [
    ...(namespaces ? [metadata.namespace ?? ''] : []),
    metadata.name ?? '',
    ...shown.map(({ cell }) => cell(status)),
  ]);
  return table([...(namespaces ? ['NAMESPACE'] : []), 'NAME', ...shown.map(({ title }) => title)], rows);
};

/** Prints rollouts once, or at every change until interrupted. */
export const showStatus = async (name: string | undefined, flags: StatusFlags, io: Io): Promise<void> => {
  const format = readFormat(flags.output, ['table', 'wide', 'json', 'yaml', 'name']);
  const wanted = name === undefined ? undefined : readDaemonSetName(name);
  await withCluster(flags, io, async ({ client, namespace }) => {
    const where: ListOptions = {
      ...(flags.allNamespaces ? {} : { namespace }),
      ...(flags.selector !== undefined && { labelSelector: flags.selector }),
      ...(wanted !== undefined && { fieldSelector: `metadata.name=${wanted}` }),
    };
    const { items, resourceVersion } = await client.list(daemonRollouts, where);
    if (items.length === 0) io.stderr(nothingFound(wanted, flags.allNamespaces ? undefined : namespace));
    if (items.length > 0 || format === 'json' || format === 'yaml')
      io.stdout(renderStatus(items, format, flags.allNamespaces ?? false));
    if (!flags.watch) return;
    const { signal, done } = interruption();
    try {
      for await (const event of client.watch(daemonRollouts, { ...where, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
        const text = renderStatus([event.object], format, flags.allNamespaces ?? false);
        // The header stands once at the top.
        io.stdout(format === 'table' || format === 'wide' ? text.slice(text.indexOf('\n') + 1) : text);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      done();
    }
  });
};

const nothingFound = (name: string | undefined, namespace: string | undefined): string => {
  const where = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
  return name === undefined
    ? `No rollouts in ${where}: DaemonSets opt in with the annotation apps.openyurt.io/update-strategy.\n`
    : `No rollout of a DaemonSet ${name} in ${where}. Try: kubectl edgeset explain ds/${name}\n`;
};
