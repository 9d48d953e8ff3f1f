import { isKubeError } from '../../../kube/index.ts';
import { toLines } from '../../escape.ts';
import type { Io } from '../../io.ts';
import { type Connection, type ConnectionFlags, FIELD_MANAGER, withCluster } from '../connection.ts';
import { CommandError } from '../errors.ts';
import type { DaemonSetLike } from '../kinds/kind.ts';
import { readName } from '../kinds/names.ts';
import { type DryRun, dryRunSuffix, structured, withoutManagedFields } from '../text.ts';
import { type ChosenRevision, chooseLastComplete, chooseRevision } from './choose-revision.ts';
import { describeRevision, type RevisionHistory, readHistory, readLiveDaemonSet } from './revisions.ts';
import { diffTemplates, renderDifference } from './template-diff.ts';
import { rollbackMark, undoNotes } from './undo-notes.ts';

export interface AbortFlags extends ConnectionFlags {
  dryRun?: DryRun;
  output?: 'json' | 'yaml' | 'name';
}

export interface UndoFlags extends AbortFlags {
  toRevision?: number;
}

/** During a rollout, the DaemonSet's status and thus its resourceVersion change several times a second. */
const TRIES = 10;
const MOST_CHANGES = 20;

interface Change {
  template: object;
  annotations: Record<string, string | null>;
}

const conflictError = ({ kind, namespace, name }: RevisionHistory, cause: unknown): CommandError =>
  new CommandError(
    'Changed',
    `${kind.title} ${namespace}/${name} was changed at the same time, so nothing was rolled back: check "kubectl edgeset history ${kind.short}/${name}" and try again`,
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

const describeChanges = (kept: RevisionHistory, { template }: Change): string[] => {
  const changes = diffTemplates(kept.template, template).map((one) => `  ${renderDifference(one)}`);
  const more = changes.length - MOST_CHANGES;
  return [...changes.slice(0, MOST_CHANGES), ...(more > 0 ? [`  and ${more} more`] : [])];
};

/** Rolls back in one write, which fails if the DaemonSet has changed since it was read. */
const rollBack = async (
  text: string,
  flags: AbortFlags,
  io: Io,
  choose: (kept: RevisionHistory) => ChosenRevision,
): Promise<void> => {
  const { output } = flags;
  const dryRun: DryRun = flags.dryRun ?? 'none';
  const named = readName(text);
  await withCluster(flags, io, async (connection) => {
    const kept = await readHistory(connection, named);
    const { kind, name } = kept;
    const { revision, template } = choose(kept);
    const change = { template, annotations: rollbackMark(kept, revision) };
    const changed =
      dryRun === 'client'
        ? asChanged(kept.daemonSet, change)
        : await put(connection, kept, change, dryRun === 'server');
    if (output === 'name') io.data(toLines(`${kind.label}/${name}`));
    else if (output) io.data(structured(withoutManagedFields(changed), output));
    else {
      const done = `${kind.label}/${name} rolled back to revision ${describeRevision(revision)}${dryRunSuffix(dryRun)}`;
      io.stdout(toLines(done, ...describeChanges(kept, change)));
    }
    io.stderr(toLines(...undoNotes(kept, revision).map((note) => `Note: ${note}`)));
  });
};

/** Rolls back to an earlier revision. */
export const undo = (text: string, flags: UndoFlags, io: Io): Promise<void> =>
  rollBack(text, flags, io, (kept) => chooseRevision(kept, flags.toRevision));

/** Rolls back to the revision that was last complete. */
export const abort = (text: string, flags: AbortFlags, io: Io): Promise<void> =>
  rollBack(text, flags, io, chooseLastComplete);
