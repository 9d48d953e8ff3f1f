import { isKubeError } from '../../kube/index.ts';
import { CommandError, type Connection, type DaemonSetLike, FIELD_MANAGER, type Named } from '../../view/index.ts';
import { type ChangeOptions, dryRunSuffix, type Written } from '../change.ts';
import { chooseRevision } from './choose-revision.ts';
import { describeRevision, type Revision, type RevisionHistory, readHistory, readLiveDaemonSet } from './revisions.ts';
import { type Difference, diffTemplates, renderDifference, shown } from './template-diff.ts';
import { rollbackMark, undoNotes } from './undo-notes.ts';

export interface UndoOptions extends ChangeOptions {
  toRevision?: number | undefined;
}

/** During a rollout, the DaemonSet's status and thus its resourceVersion change several times a second. */
const TRIES = 10;
const MOST_CHANGES = 20;

interface Change {
  template: object;
  annotations: Record<string, string | null>;
}

const conflictError = ({ kind, namespace, name, edgeset }: RevisionHistory, cause: unknown): CommandError =>
  new CommandError(
    'Changed',
    `${kind.title} ${namespace}/${name} was changed at the same time, so nothing was rolled back: check "${edgeset(`history ${kind.short}/${name}`)}" and try again`,
    cause,
  );

/** Whether a decision about `a` also holds for `b`: the status may differ, the spec and the annotations may not. */
const asksForTheSame = (a: DaemonSetLike, b: DaemonSetLike): boolean =>
  a.metadata?.uid === b.metadata?.uid &&
  a.metadata?.generation === b.metadata?.generation &&
  JSON.stringify(a.metadata?.annotations) === JSON.stringify(b.metadata?.annotations);

const put = async (
  connection: Connection,
  kept: RevisionHistory,
  change: Change,
  dryRun: boolean,
): Promise<DaemonSetLike> => {
  const { kind, namespace, name, daemonSet } = kept;
  const { uid = '' } = daemonSet.metadata ?? {};
  let { resourceVersion = '' } = daemonSet.metadata ?? {};
  for (let tries = 1; ; tries += 1)
    try {
      const write = { fieldManager: FIELD_MANAGER, dryRun };
      return await kind.putTemplate(connection.client, { namespace, name, uid, resourceVersion }, change, write);
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error;
      const { object: now } = await readLiveDaemonSet(connection, kind, name);
      if (tries === TRIES || !asksForTheSame(daemonSet, now)) throw conflictError(kept, error);
      resourceVersion = now.metadata?.resourceVersion ?? '';
    }
};

/** The DaemonSet as the API server would store it, except for managed fields and the like. */
const asChanged = ({ metadata, ...daemonSet }: DaemonSetLike, { template, annotations }: Change): DaemonSetLike => {
  const merged: Record<string, string> = { ...metadata?.annotations };
  for (const [key, value] of Object.entries(annotations))
    if (value === null) delete merged[key];
    else merged[key] = value;
  return { ...daemonSet, metadata: { ...metadata, annotations: merged }, spec: { ...daemonSet.spec, template } };
};

const describe = (differences: readonly Difference[]): string[] => {
  const lines = differences.map((one) => `  ${renderDifference(one)}`);
  const more = lines.length - MOST_CHANGES;
  return [...lines.slice(0, MOST_CHANGES), ...(more > 0 ? [`  and ${more} more`] : [])];
};

/** The number under which `history` lists it then: the revision of the template has the highest one. */
const newNumber = ({ revisions }: RevisionHistory, to: Revision): string => {
  const number = Math.max(to.number, ...revisions.map((one) => (one.name === to.name ? 0 : one.number + 1)));
  return number === to.number ? '' : `, which becomes revision ${number}`;
};

/** Rolls back in one write, which fails if the DaemonSet has changed since it was read. */
export const undo = async (
  connection: Connection,
  named: Named,
  { toRevision, dryRun = 'none' }: UndoOptions,
): Promise<Written> => {
  const kept = await readHistory(connection, named);
  const { revision, template } = chooseRevision(kept, toRevision);
  const change = { template, annotations: rollbackMark(kept, revision) };
  const object =
    dryRun === 'client' ? asChanged(kept.daemonSet, change) : await put(connection, kept, change, dryRun === 'server');
  const label = `${kept.kind.label}/${kept.name}`;
  const chosen = `${describeRevision(revision)}${newNumber(kept, revision)}`;
  const done = `${label} rolled back to revision ${chosen}${dryRunSuffix(dryRun)}`;
  const differences = diffTemplates(kept.template, template);
  return {
    label,
    object,
    lines: [done, ...describe(differences)],
    notes: undoNotes(kept, revision),
    changes: differences.map(({ path, from, to }) => ({ what: path, from: shown(from), to: shown(to) })),
  };
};
