import { daemonRollouts } from '../../../controller/index.ts';
import { keyOf, listAll } from '../../../kube/index.ts';
import { compareNames } from '../../../text/index.ts';
import {
  ambiguousName,
  CommandError,
  type Connection,
  type DaemonSets,
  isNamed,
  kinds,
  type Named,
  native,
  ownerOfRollout,
  readDaemonSets,
  whereInstalled,
} from '../../../view/index.ts';
import type { DaemonRollout } from '../../../words/index.ts';

/** What the user asks of a cluster. */
export interface Wanted {
  /** None for all. */
  named: readonly Named[];
  allNamespaces: boolean;
  /** For the labels of DaemonRollouts. */
  selector: string | undefined;
  /** Whether DaemonSets without a DaemonRollout get a row. */
  table: boolean;
}

/** A bare name can be of either kind, and each kind names its DaemonRollouts differently. */
const rolloutNames = ({ kind, name }: Named): string[] => (kind ? [kind] : kinds).map((one) => one.rolloutName(name));

/** Whether one of these names is that of its DaemonSet. */
const isOf = (named: readonly Named[], rollout: DaemonRollout): boolean => {
  const { kind, name } = ownerOfRollout(rollout);
  return isNamed(named, kind, name);
};

/** Where to look in a cluster. */
export const scopeOf = (
  { namespace }: Pick<Connection, 'namespace'>,
  { named, allNamespaces, selector }: Omit<Wanted, 'table'>,
) => {
  const inNamespace = { ...(!allNamespaces && { namespace }) };
  const whole = { ...inNamespace, ...(selector !== undefined && { labelSelector: selector }) };
  const names = [...new Set(named.flatMap(rolloutNames))];
  const queries =
    names.length > 0 ? names.map((name) => ({ ...whole, fieldSelector: `metadata.name=${name}` })) : [whole];
  const [only = whole, ...others] = queries;
  return {
    /** For people. */
    place: allNamespaces ? 'any namespace' : `namespace ${namespace}`,
    daemonSets: { ...inNamespace, named },
    queries,
    /** All that the queries find, and possibly more. */
    where: others.length === 0 ? only : whole,
    isShown: (rollout: DaemonRollout): boolean => isOf(named, rollout),
  };
};

/** Throws if DaemonSets of both kinds have this name in one namespace. */
const checkUnambiguous = (rollouts: readonly DaemonRollout[], name: string): void => {
  const seen = new Set<string | undefined>();
  for (const { metadata } of rollouts) {
    if (seen.has(metadata.namespace)) throw ambiguousName(metadata.namespace ?? '', name);
    seen.add(metadata.namespace);
  }
};

/** Further rows of a table, for DaemonSets that have no DaemonRollout. */
export const unservedRows = (
  daemonSets: DaemonSets,
  { selector, table }: Pick<Wanted, 'selector' | 'table'>,
  rollouts: readonly DaemonRollout[],
): DaemonRollout[] => (table && selector === undefined ? daemonSets.unserved(rollouts) : []);

/** What `status` shows of one cluster. */
export interface ClusterStatus {
  /** By name. */
  rows: readonly DaemonRollout[];
  daemonSets: DaemonSets;
  /** Those that the user named and that have no row. */
  missing: readonly Named[];
}

export const readClusterStatus = async (connection: Connection, wanted: Wanted): Promise<ClusterStatus> => {
  const { queries, isShown, daemonSets: sets } = scopeOf(connection, wanted);
  // Before the rollouts: a manager that has just observed a change must not look as if it had not.
  const daemonSets = await readDaemonSets(connection, sets);
  const found = await Promise.all(
    queries.map((where) => whereInstalled(connection, listAll(connection.client, daemonRollouts, where))),
  );
  const rollouts = found.flat().filter(isShown);
  const rows = [...rollouts, ...unservedRows(daemonSets, wanted, rollouts)].toSorted((a, b) =>
    compareNames(keyOf(a), keyOf(b)),
  );
  const missing: Named[] = [];
  for (const one of wanted.named) {
    const its = rows.filter((row) => isOf([one], row));
    checkUnambiguous(its, one.name);
    if (its.length === 0) missing.push(one);
  }
  return { rows, daemonSets, missing };
};

/** The error for DaemonSets that the user named and that have no rollout. `edgeset`: how the user asks about one of them. */
export const noRolloutOf = (missing: readonly Named[], place: string, edgeset: Connection['edgeset']): CommandError => {
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
