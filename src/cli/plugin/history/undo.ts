import { isKubeError } from '../../../kube/index.ts';
import type { DryRun, UndoFlags } from '../../commands.ts';
import type { Io } from '../../io.ts';
import { type Connection, FIELD_MANAGER, withCluster } from '../connection.ts';
import { CommandError } from '../errors.ts';
import type { DaemonSetLike } from '../kinds/kind.ts';
import { readName } from '../kinds/names.ts';
import { dryRunSuffix, structured, withoutManagedFields } from '../text.ts';
import { chooseRevision } from './choose-revision.ts';
import { describeRevision, type RevisionHistory, readHistory, readLiveDaemonSet } from './revisions.ts';
import { diffTemplates, renderDifference } from './template-diff.ts';
import { rollbackMark, undoNotes } from './undo-notes.ts';

/** The status of a DaemonSet that is being rolled out changes several times a second, and its resourceVersion with it. */
const TRIES = 10;
const MOST_CHANGES = 20;

interface Change {
  template: object;
  annotations: Record<string, string | null>;
}

const changedMeanwhile = ({ kind, namespace, name }: RevisionHistory, cause: unknown): CommandError =>
  new CommandError(
    'Changed',
    `${kind.title} ${namespace}/${name} was changed meanwhile, and nothing was put back: see "kubectl edgeset history ${kind.short}/${name}", and try again`,
    cause,
  );

/** Whether what was decided on one reading still holds: its status may differ, what it asks for may not. */
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
      if (tries === TRIES || !asksForTheSame(daemonSet, now)) throw changedMeanwhile(kept, error);
      resourceVersion = now.metadata?.resourceVersion ?? '';
    }
};

/** As the API server would leave it, but for its own bookkeeping. */
const asChanged = ({ metadata, ...daemonSet }: DaemonSetLike, { template, annotations }: Change): DaemonSetLike => {
  const merged: Record<string, string> = { ...metadata?.annotations };
  for (const [key, value] of Object.entries(annotations))
    if (value === null) delete merged[key];
    else merged[key] = value;
  return { ...daemonSet, metadata: { ...metadata, annotations: merged }, spec: { ...daemonSet.spec, template } };
};

const sayChanges = (kept: RevisionHistory, { template }: Change): string => {
  const changes = diffTemplates(kept.template, template).map((one) => `  ${renderDifference(one)}\n`);
  const more = changes.length - MOST_CHANGES;
  return changes.slice(0, MOST_CHANGES).join('') + (more > 0 ? `  and ${more} more\n` : '');
};

/** Puts the template of an earlier revision back: one write, which is refused when the DaemonSet was changed meanwhile. */
export const undo = async (text: string, flags: UndoFlags, io: Io): Promise<void> => {
  const { output, toRevision } = flags;
  const dryRun: DryRun = flags.dryRun ?? 'none';
  const named = readName(text);
  await withCluster(flags, io, async (connection) => {
    const kept = await readHistory(connection, named);
    const { kind, name } = kept;
    const { revision, template } = chooseRevision(kept, toRevision);
    const change = { template, annotations: rollbackMark(kept, revision) };
    const changed =
      dryRun === 'client'
        ? asChanged(kept.daemonSet, change)
        : await put(connection, kept, change, dryRun === 'server');
    if (output === 'name') io.stdout(`${kind.label}/${name}\n`);
    else if (output) io.stdout(structured(withoutManagedFields(changed), output));
    else {
      io.stdout(`${kind.label}/${name} rolled back to revision ${describeRevision(revision)}${dryRunSuffix(dryRun)}\n`);
      io.stdout(sayChanges(kept, change));
    }
    for (const note of undoNotes(kept, revision)) io.stderr(`Note: ${note}\n`);
  });
};
