import { daemonRollouts } from '../../../controller/index.ts';
import { isKubeError, keyOf, type ListOptions, listAll } from '../../../kube/index.ts';
import { compareNames, toLines } from '../../../text/index.ts';
import {
  ambiguousName,
  CommandError,
  type Connection,
  type ConnectionFlags,
  type DaemonSets,
  type Doubt,
  firstOf,
  isNamed,
  kinds,
  managerState,
  type Named,
  native,
  type OutputFormat,
  ownerOfRollout,
  readDaemonSets,
  readNames,
  watchDaemonSets,
  withCluster,
} from '../../../view/index.ts';
import type { DaemonRollout } from '../../../words/index.ts';
import type { Io } from '../../io.ts';
import { createStatusView } from './view.ts';
import { type WatchOptions, watchStatus } from './watch.ts';

/** Names in a note. */
const NAMED = 5;

export interface StatusFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  selector?: string;
  output?: OutputFormat;
  watch?: boolean;
}

const listRollouts = async ({ client, edgeset }: Connection, where: ListOptions): Promise<DaemonRollout[]> => {
  try {
    return await listAll(client, daemonRollouts, where);
  } catch (error) {
    // A list is never NotFound, unless the API server does not have the kind.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CommandError(
      'NotInstalled',
      `the cluster has no CRD for DaemonRollouts: install it with "${edgeset('crds')} | kubectl apply -f -", and install the manager`,
      error,
    );
  }
};

/** A bare name can be of either kind, and each kind names its DaemonRollouts differently. */
const rolloutNames = ({ kind, name }: Named): string[] => (kind ? [kind] : kinds).map((one) => one.rolloutName(name));

/** Whether one of these names is that of its DaemonSet. */
const isOf = (named: readonly Named[], rollout: DaemonRollout): boolean => {
  const { kind, name } = ownerOfRollout(rollout);
  return isNamed(named, kind, name);
};

/** Throws if DaemonSets of both kinds have this name in one namespace. */
const checkUnambiguous = (rollouts: readonly DaemonRollout[], name: string): void => {
  const seen = new Set<string | undefined>();
  for (const { metadata } of rollouts) {
    if (seen.has(metadata.namespace)) throw ambiguousName(metadata.namespace ?? '', name);
    seen.add(metadata.namespace);
  }
};

/** What to do about rows that are not about the present, once for each reason. */
const remedies: Record<Doubt, (names: string) => string> = {
  waiting: (names) =>
    `the manager has not observed the latest change of ${names}: if this lasts, check that it is running and serves the namespace.`,
  orphaned: (names) =>
    `no DaemonSet owns the DaemonRollout ${names}: it was deleted with --cascade=orphan. A running manager removes what it left.`,
  replaced: (names) => `the DaemonSet of ${names} was deleted: the garbage collector removes the DaemonRollout.`,
  unserved: (names) =>
    `${names} opted in, but no manager has recorded a rollout: check that edgeset-manager is running and serves the namespace.`,
};

/** Says on stderr why rows are not about the present, and that no manager is running. */
const explainDoubts = async (
  connection: Connection,
  rollouts: readonly DaemonRollout[],
  daemonSets: DaemonSets,
  io: Io,
): Promise<void> => {
  const doubted = Map.groupBy(rollouts, (rollout) => daemonSets.doubt(rollout));
  for (const [doubt, those] of doubted)
    if (doubt) io.stderr(toLines(`Note: ${remedies[doubt](firstOf(those.map(keyOf).toSorted(compareNames), NAMED))}`));
  if (rollouts.length === 0) return;
  const manager = await managerState(connection, () => Promise.resolve(rollouts));
  if (manager.kind === 'absent') io.stderr(toLines(`Note: ${manager.why}. What it recorded before may be outdated.`));
};

/**
 * Says on stderr why rollouts that the user named are stuck, and what is wrong with their images: their row has only a few words for
 * it, or none.
 */
const explainConditions = (rollouts: readonly DaemonRollout[], daemonSets: DaemonSets, io: Io): void => {
  for (const rollout of rollouts) {
    if (daemonSets.doubt(rollout)) continue;
    for (const { type, status, message } of rollout.status?.conditions ?? []) {
      if (status !== 'True') continue;
      if (type === 'Stalled') io.stderr(toLines(`Note: ${keyOf(rollout)} is stalled: ${message}`));
      if (type === 'ImageDrift') io.stderr(toLines(`Note: ${keyOf(rollout)}: ${message}`));
    }
  }
};

const noRolloutOf = (
  missing: readonly Named[],
  place: string,
  { edgeset }: Pick<Connection, 'edgeset'>,
): CommandError => {
  const [{ kind, name } = { kind: undefined, name: '' }, ...others] = missing;
  const { title, short } = kind ?? native;
  const article = title === native.title ? 'a' : 'an';
  const typed = (one: Named): string => (one.kind ? `${one.kind.short}/${one.name}` : one.name);
  return new CommandError(
    'NotFound',
    others.length === 0
      ? `there is no rollout of ${article} ${title} ${name} in ${place}: "${edgeset(`explain ${kind ? `${short}/` : ''}${name}`)}" says why`
      : `there are no rollouts of ${missing.map(typed).join(', ')} in ${place}: "${edgeset('explain NAME')}" says why`,
  );
};

/** How a DaemonSet opts in, for those who have none yet. */
const OPT_IN = [
  'To roll out a DaemonSet with edgeset, add these two lines of YAML to it:',
  '  metadata: {annotations: {apps.openyurt.io/update-strategy: auto}}',
  '  spec: {updateStrategy: {type: OnDelete}}',
];

const noneText = (place: string, selector: string | undefined, named: readonly Named[]): string[] => {
  if (selector !== undefined) return [`No rollouts match the selector in ${place}.`];
  return [`No rollouts in ${place}.`, ...(named.length > 0 ? [] : OPT_IN)];
};

/** Prints rollouts once, or on every change until interrupted. */
export const showStatus = async (words: readonly string[], flags: StatusFlags, io: Io): Promise<void> => {
  const { output, allNamespaces = false, selector, watch = false } = flags;
  const named = readNames(words);
  let daemonSets: DaemonSets | undefined;
  const view = createStatusView(output, {
    namespaces: allNamespaces,
    single: named.length === 1,
    stages: named.length > 0,
    doubt: (rollout) => daemonSets?.doubt(rollout),
    paint: io.paint,
  });
  // The selector is for the labels of DaemonRollouts.
  const unserved = (items: readonly DaemonRollout[]): DaemonRollout[] =>
    selector === undefined ? (daemonSets?.unserved(items) ?? []) : [];
  await withCluster(flags, io, async (connection) => {
    const inNamespace = { ...(!allNamespaces && { namespace: connection.namespace }) };
    const scope = { ...inNamespace, ...(selector !== undefined && { labelSelector: selector }) };
    const place = allNamespaces ? 'any namespace' : `namespace ${connection.namespace}`;
    // Somebody who looks in all namespaces has yet to find the right one.
    const typed = allNamespaces ? { edgeset: (text: string) => io.edgeset(text, 'NAMESPACE') } : connection;
    const names = [...new Set(named.flatMap(rolloutNames))];
    const queries =
      names.length > 0 ? names.map((name) => ({ ...scope, fieldSelector: `metadata.name=${name}` })) : [scope];
    const isShown = (rollout: DaemonRollout): boolean => isOf(named, rollout);
    const sets = { ...inNamespace, named };
    // Before the rollouts: a manager that has just observed a change must not look as if it had not.
    daemonSets = await readDaemonSets(connection, sets);
    // List before watching, too: an error ends the command here, while a watch would retry forever.
    const found = await Promise.all(queries.map((where) => listRollouts(connection, where)));
    const items = found.flat().filter(isShown);
    const rows = [...items, ...(view.table ? unserved(items) : [])].toSorted((a, b) =>
      compareNames(keyOf(a), keyOf(b)),
    );
    const missing: Named[] = [];
    for (const one of named) {
      const its = rows.filter((row) => isOf([one], row));
      checkUnambiguous(its, one.name);
      if (its.length === 0) missing.push(one);
    }
    if (missing.length > 0 && rows.length === 0 && !watch) throw noRolloutOf(missing, place, typed);
    if (rows.length === 0) io.stderr(toLines(...noneText(place, selector, named)));
    if (watch) {
      const [only = scope, ...others] = queries;
      const where = others.length === 0 ? only : scope;
      const known = daemonSets;
      const follow: WatchOptions['follow'] = (onChange) => watchDaemonSets(connection, sets, known, onChange);
      await watchStatus({ connection, where, isShown, view, follow, unserved, io });
      return;
    }
    if (rows.length > 0 || output === 'json' || output === 'yaml') io.print(view.all(rows, connection.env.clock.now()));
    if (named.length > 0 && view.table) explainConditions(rows, daemonSets, io);
    await explainDoubts(connection, rows, daemonSets, io);
    // As kubectl does: what there is, and an error for the rest.
    if (missing.length > 0) throw noRolloutOf(missing, place, typed);
  });
};
