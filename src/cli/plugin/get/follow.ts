import { isDeepStrictEqual } from 'node:util';
import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { createReflector, events } from '../../../kube/index.ts';
import { anySignal, silentLogger } from '../../../runtime/index.ts';
import { toLines } from '../../../text/index.ts';
import {
  type Connection,
  createTrouble,
  type DaemonSetKind,
  keepDrawing,
  lastSeen,
  type OutputFormat,
  type Reading,
  readPredecessor,
  rightsNote,
} from '../../../view/index.ts';
import type { EventLine } from '../../fleet/index.ts';
import type { Io } from '../../io.ts';
import { liveScreenOf, untilInterrupted } from '../../terminal.ts';
import { createLivePicture, type PictureContext } from './live-picture.ts';
import { createNodeRowsView, type NodeRow, nodeRows } from './node-rows.ts';

/** Shows what the watches say of a rollout, at every change. */
interface Display {
  show(reading: Reading, context: PictureContext): void;
  /** There is no rollout, or a watch has failed. */
  say(text: string): void;
  close(): void;
}

/** A line for each node that has changed. */
const createLines = (io: Io, format: OutputFormat | undefined): Display => {
  const view = createNodeRowsView(format, io.paint);
  const { print } = io;
  let before: Map<string, NodeRow> | undefined;
  let said = '';
  let isNoted = false;
  const say = (text: string): void => {
    if (text !== said && text !== '') io.stderr(toLines(text));
    said = text;
  };
  return {
    show(reading, { trouble, now }) {
      say(trouble);
      const rights = rightsNote(reading);
      if (rights !== undefined && !isNoted) io.stderr(toLines(`Note: ${rights}`));
      isNoted = rights !== undefined;
      const rows = nodeRows(reading);
      const known = before;
      before = new Map(rows.map((row) => [row.node, row]));
      if (!known) {
        print(view.all(reading, rows, now));
        return;
      }
      print(
        view.changed(
          rows.filter((row) => !isDeepStrictEqual(row, known.get(row.node))),
          now,
        ),
      );
      for (const name of known.keys())
        if (!before.has(name)) io.stderr(toLines(`${name} is no longer part of the rollout.`));
    },
    say,
    close: () => undefined,
  };
};

const createPicture = (io: Io): Display | undefined => {
  const screen = liveScreenOf(io);
  if (!screen) return undefined;
  const picture = createLivePicture(screen);
  return { show: (reading, context) => picture.draw(reading, context), say: picture.say, close: picture.close };
};

const EVENTS_KEPT = 20;

/** The Events of the DaemonSet. Without the right to read them, there are none. */
const watchEvents = (
  { client, env, namespace }: Connection,
  kind: DaemonSetKind,
  name: string,
  changed: () => void,
) => {
  const reflector = createReflector({
    client,
    env: { ...env, log: silentLogger },
    resource: events,
    namespace,
    fieldSelector: `involvedObject.name=${name}`,
    project: (event: Event) => {
      const { kind: about, apiVersion, uid } = event.involvedObject;
      const { resource } = kind;
      if (about !== resource.kind || apiVersion?.split('/')[0] !== resource.group) return undefined;
      const line = { reason: event.reason ?? '', note: event.message ?? '', warning: event.type === 'Warning' };
      return { uid, at: lastSeen(event), line };
    },
    handlers: [{ upsert: changed }],
  });
  return {
    run: (signal: AbortSignal): Promise<void> => reflector.run(signal),
    /** Oldest first. */
    newest: (uid: string): EventLine[] =>
      [...reflector.store.values()]
        .filter((event) => event.uid === uid)
        .toSorted((a, b) => a.at - b.at)
        .slice(-EVENTS_KEPT)
        .map(({ line }) => line),
  };
};

/** Follows the rollout until interrupted: as a picture on a terminal, as lines elsewhere. Survives errors of watches. */
export const followRollout = async (
  connection: Connection,
  kind: DaemonSetKind,
  name: string,
  format: OutputFormat | undefined,
  io: Io,
): Promise<void> => {
  const { client, env, namespace } = connection;
  const display = (format === undefined ? createPicture(io) : undefined) ?? createLines(io, format);
  let changes = 0;
  const changed = (): void => void (changes += 1);
  const trouble = createTrouble(env.clock, changed);
  const watch = kind.watch({
    client,
    env: { ...env, log: trouble.log },
    namespace,
    name,
    changed,
    preceding: readPredecessor(connection),
  });
  const about = watchEvents(connection, kind, name, changed);
  const draw = (): void => {
    const reading = watch.read();
    if (reading === undefined) display.say(trouble.text());
    else if (reading === 'not-managed')
      display.say(`${kind.title} ${namespace}/${name} does not exist, or is not managed. Waiting for it.`);
    else {
      const context = {
        title: `${kind.short}/${name}`,
        events: about.newest(reading.view.uid),
        trouble: trouble.text(),
        edgeset: connection.edgeset,
      };
      display.show(reading, { ...context, now: env.clock.now() });
    }
  };
  const { signal, done } = untilInterrupted();
  const stop = new AbortController();
  const both = anySignal(signal, stop.signal);
  // However the process ends, the cursor is restored.
  const close = (): void => display.close();
  process.once('exit', close);
  const version = (): string => {
    const { columns = 0, rows = 0 } = io.screen?.() ?? {};
    return `${changes} ${columns}x${rows}`;
  };
  try {
    await Promise.all([watch.run(both), about.run(both), keepDrawing(env.clock, version, draw, both)]);
  } finally {
    stop.abort();
    close();
    process.off('exit', close);
    done();
  }
};
