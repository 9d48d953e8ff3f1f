import { writeFile } from 'node:fs/promises';
import { type Clock, createRandom, systemClock, untilAborted } from '../../runtime/index.ts';
import { type ExitCode, exitCodes } from '../io.ts';
import type { DemoAgent } from './agent.ts';
import { kept, opening, summary, whatNext } from './closing.ts';
import type { DemoOptions } from './options.ts';
import { createPart, type Part } from './parts/index.ts';
import { drawPicture, type Snapshot } from './picture.ts';
import { playPart } from './play.ts';
import { DemoFailure } from './stage.ts';
import { type Cast, openTheatre, type Theatre } from './theatre.ts';
import type { View } from './view/index.ts';
import { createWitness, type Witness } from './witness.ts';

export interface DemoHost {
  view: View;
  stderr: (text: string) => void;
  /** Aborts when the person has seen enough. */
  signal: AbortSignal;
  /** Our own time; the cluster's is made of it. Default: the machine's. */
  clock?: Clock;
}

/** A part that was played, with what watched it. */
interface Played {
  part: Part;
  witness: Witness;
}

const LOG_LINES = 15;

const selectorOf = ({ daemonSet }: Part): string =>
  Object.entries(daemonSet.spec?.selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Plays the parts one after the other; all stay on the cluster. Rejects with a `DemoFailure`. */
const playAll = async (
  theatre: Theatre,
  parts: readonly Part[],
  { view, clock, speed }: { view: View; clock: Clock; speed: number },
): Promise<{ played: Played[]; snapshots: Snapshot[] }> => {
  const { cluster, env, signal } = theatre;
  const startedAt = clock.now();
  const steps = parts.reduce((sum, part) => sum + part.steps.length, 0);
  const client = await theatre.connect('user');
  const eyes = await theatre.connect('witness');
  const played: Played[] = [];
  const snapshots: Snapshot[] = [];
  const watching: Promise<void>[] = [];
  const done = new AbortController();
  try {
    for (const part of parts) {
      await cluster.addNodes(part.nodes);
      const witness = createWitness(eyes, env, {
        kind: part.kind,
        ...part.daemonSet.metadata,
        labelSelector: selectorOf(part),
        nodes: part.eligible,
        share: part.share,
      });
      const watched = AbortSignal.any([signal, done.signal]);
      watching.push(witness.run(watched));
      await witness.ready(watched);
      const from = played.reduce((sum, { part: { steps: before } }) => sum + before.length, 0);
      const keep = (snapshot: Snapshot): void => void snapshots.push(snapshot);
      const agent = (node: string): Promise<DemoAgent> => theatre.agent(node);
      await playPart({ part, witness, client, view, clock, env, signal, speed, startedAt, from, steps, agent, keep });
      played.push({ part, witness });
    }
  } finally {
    done.abort();
    await Promise.allSettled(watching);
  }
  return { played, snapshots };
};

/** Runs the demo on a cluster of its own. Resolves with the exit code: not 0 when a step did not show what it should. */
export const runDemo = async (options: DemoOptions, cast: Cast, host: DemoHost): Promise<ExitCode> => {
  const { clock = systemClock, view, stderr } = host;
  const { speed, seed } = options;
  const random = createRandom(seed);
  const parts = options.parts.map((name) => createPart(name, { fleet: options.fleet, random }));
  view.say(opening(parts, options));
  const startedAt = clock.now();
  const theatre = await openTheatre({ cast, clock, speed, random, signal: host.signal });
  try {
    const clusterStartedAt = theatre.clock.now();
    const { played, snapshots } = await playAll(theatre, parts, { view, clock, speed });
    const elapsedMs = clock.now() - startedAt;
    const clusterMs = theatre.clock.now() - clusterStartedAt;
    if (options.picture !== undefined) await writeFile(options.picture, drawPicture(snapshots));
    view.close();
    view.say(summary(played, { elapsedMs, clusterMs }));
    if (!options.keep) {
      view.say(whatNext());
      return exitCodes.ok;
    }
    await theatre.clock.catchUp();
    view.say(kept(parts, theatre.cluster.kubeconfig));
    await untilAborted(theatre.signal);
    if (host.signal.aborted) return exitCodes.ok;
    throw theatre.signal.reason;
  } catch (error) {
    view.close();
    if (host.signal.aborted) {
      stderr('edgeset demo: interrupted\n');
      return exitCodes.failed;
    }
    if (!(error instanceof DemoFailure)) throw error;
    stderr(`edgeset demo: ${error.message}\n`);
    stderr(`It was played with --seed ${seed} --speed ${speed}. The last words of the manager:\n`);
    for (const line of theatre.manager.log().slice(-LOG_LINES)) stderr(`  ${line}\n`);
    return exitCodes.failed;
  } finally {
    await theatre.close();
  }
};
