import { isKubeError } from '../../kube/index.ts';
import type { Io } from '../io.ts';
import { type Connection, FIELD_MANAGER, withCluster } from './connect.ts';
import { CommandFailure } from './failure.ts';
import { asTried, type DryRun } from './flags.ts';
import { inWords, type Kept, readDaemonSet, readKept } from './kept-revisions.ts';
import type { AnyDaemonSet } from './kinds.ts';
import { readName } from './names.ts';
import { differences, renderDifference } from './template-differences.ts';
import { structured, withoutBookkeeping } from './text.ts';
import { choose } from './undo-choice.ts';
import type { UndoFlags } from './undo-command.ts';
import { markOf, undoNotes } from './undo-notes.ts';

/** The status of a DaemonSet that is being rolled out changes several times a second, and its resourceVersion with it. */
const TRIES = 10;
const MOST_CHANGES = 20;

interface Change {
  template: object;
  annotations: Record<string, string | null>;
}

const changedMeanwhile = ({ kind, namespace, name }: Kept, cause: unknown): CommandFailure =>
  new CommandFailure(
    'Changed',
    `${kind.title} ${namespace}/${name} was changed meanwhile, and nothing was put back: see "kubectl edgeset history ${kind.short}/${name}", and try again`,
    cause,
  );

/** Whether what was decided on one reading still holds: its status may differ, what it asks for may not. */
const asksForTheSame = (a: AnyDaemonSet, b: AnyDaemonSet): boolean =>
  a.metadata?.uid === b.metadata?.uid &&
  a.metadata?.generation === b.metadata?.generation &&
  JSON.stringify(a.metadata?.annotations) === JSON.stringify(b.metadata?.annotations);

const put = async (connection: Connection, kept: Kept, change: Change, dryRun: boolean): Promise<AnyDaemonSet> => {
  const { kind, namespace, name, daemonSet } = kept;
  const { uid = '' } = daemonSet.metadata ?? {};
  let { resourceVersion = '' } = daemonSet.metadata ?? {};
  for (let tries = 1; ; tries += 1)
    try {
      const write = { fieldManager: FIELD_MANAGER, dryRun };
      return await kind.putTemplate(connection.client, { namespace, name, uid, resourceVersion }, change, write);
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error;
      const { object: now } = await readDaemonSet(connection, kind, name);
      if (tries === TRIES || !asksForTheSame(daemonSet, now)) throw changedMeanwhile(kept, error);
      resourceVersion = now.metadata?.resourceVersion ?? '';
    }
};

/** As the API server would leave it, but for its own bookkeeping. */
const asChanged = ({ metadata, ...daemonSet }: AnyDaemonSet, { template, annotations }: Change): AnyDaemonSet => {
  const merged: Record<string, string> = { ...metadata?.annotations };
  for (const [key, value] of Object.entries(annotations))
    if (value === null) delete merged[key];
    else merged[key] = value;
  return { ...daemonSet, metadata: { ...metadata, annotations: merged }, spec: { ...daemonSet.spec, template } };
};

const sayChanges = (kept: Kept, { template }: Change): string => {
  const changes = differences(kept.template, template).map((one) => `  ${renderDifference(one)}\n`);
  const more = changes.length - MOST_CHANGES;
  return changes.slice(0, MOST_CHANGES).join('') + (more > 0 ? `  and ${more} more\n` : '');
};

/** Puts the template of an earlier revision back: one write, which is refused when the DaemonSet was changed meanwhile. */
export const undo = async (text: string, flags: UndoFlags, io: Io): Promise<void> => {
  const { output, toRevision } = flags;
  const dryRun: DryRun = flags.dryRun ?? 'none';
  const named = readName(text);
  await withCluster(flags, io, async (connection) => {
    const kept = await readKept(connection, named);
    const { kind, name } = kept;
    const { revision, template } = choose(kept, toRevision);
    const change = { template, annotations: markOf(kept, revision) };
    const changed =
      dryRun === 'client'
        ? asChanged(kept.daemonSet, change)
        : await put(connection, kept, change, dryRun === 'server');
    if (output === 'name') io.stdout(`${kind.label}/${name}\n`);
    else if (output) io.stdout(structured(withoutBookkeeping(changed), output));
    else {
      io.stdout(`${kind.label}/${name} rolled back to revision ${inWords(revision)}${asTried(dryRun)}\n`);
      io.stdout(sayChanges(kept, change));
    }
    for (const note of undoNotes(kept, revision)) io.stderr(`Note: ${note}\n`);
  });
};
