import { writeFile } from 'node:fs/promises';
import { createClient, type KubeClient, loadClusterConfig } from '../../kube/index.ts';
import { daemonRolloutCrd } from '../../rollout/index.ts';
import { type Clock, type Env, silentLogger, sleep, systemClock } from '../../runtime/index.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { version } from '../version.ts';
import { createChance } from './chance.ts';
import { kept, opening, summary, whatNext } from './closing.ts';
import type { StartCluster } from './cluster.ts';
import { createFastClock } from './fast-clock.ts';
import type { StartManager } from './manager.ts';
import type { DemoOptions } from './options.ts';
import { createPart, type Part } from './parts/index.ts';
import { drawPicture, type Snapshot } from './picture.ts';
import { playPart } from './play.ts';
import { customResourceDefinitions } from './resources.ts';
import { DemoFailure } from './stage.ts';
import type { View } from './view/index.ts';
import { createWitness, type Witness } from './witness.ts';

/** What a run is made of: the product's own parts, or a test's. */
export interface Cast {
  startCluster: StartCluster;
  startManager: StartManager;
}

export interface DemoHost {
  view: View;
  stderr: (text: string) => void;
  /** Aborts when the person has seen enough. */
  signal: AbortSignal;
  /** Our own time; the cluster's is made of it. Default: the machine's. */
  clock?: Clock;
}

/** A part with what watches it. */
interface Played {
  part: Part;
  witness: Witness;
}

const LOG_LINES = 15;

const openClient = async (kubeconfig: string, env: Env, part: string): Promise<KubeClient> =>
  createClient(await loadClusterConfig({ kubeconfig, env: {} }), {
    env,
    userAgent: `edgeset-demo-${part}/${version}`,
    qps: 0,
  });

/** Plays the parts on a cluster of their own. Resolves with the exit code: not 0 when a step did not show what it should. */
export const runDemo = async (options: DemoOptions, cast: Cast, host: DemoHost): Promise<ExitCode> => {
  const { clock = systemClock, view } = host;
  const fast = createFastClock({ base: clock, speed: options.speed });
  const random = createChance(options.seed);
  const env: Env = { clock: fast, random, log: silentLogger };
  const ending = new AbortController();
  const signal = AbortSignal.any([host.signal, ending.signal]);
  const parts = options.parts.map((name) => createPart(name, { fleet: options.fleet, random }));
  const startedAt = clock.now();
  const clusterStartedAt = fast.now();
  const snapshots: Snapshot[] = [];
  const background: Promise<unknown>[] = [];
  const clients: KubeClient[] = [];

  view.say(opening(parts, options));
  const cluster = await cast.startCluster(env);
  const manager = cast.startManager(cluster.kubeconfig, env);
  const broken = manager.ended.then(() => {
    if (!signal.aborted) ending.abort(new DemoFailure('the manager to run', 'that it ended'));
  });
  try {
    const actor = await openClient(cluster.kubeconfig, env, 'user');
    const eyes = await openClient(cluster.kubeconfig, env, 'witness');
    clients.push(actor, eyes);
    await actor.create(customResourceDefinitions, daemonRolloutCrd, { signal });
    const played: Played[] = [];
    const steps = parts.reduce((sum, part) => sum + part.steps.length, 0);
    let done = 0;
    for (const part of parts) {
      await cluster.addNodes(part.nodes);
      const { name, namespace } = part.daemonSet.metadata;
      const witness = createWitness(eyes, env, {
        namespace,
        name,
        labelSelector: selectorOf(part),
        nodes: part.eligible,
        share: part.share,
      });
      background.push(witness.run(signal));
      await witness.ready(signal);
      await playPart({
        part,
        witness,
        client: actor,
        view,
        clock,
        clusterClock: fast,
        signal,
        speed: options.speed,
        startedAt,
        from: done,
        steps,
        keep: (snapshot) => snapshots.push(snapshot),
      });
      done += part.steps.length;
      played.push({ part, witness });
    }
    if (options.picture !== undefined) await writeFile(options.picture, drawPicture(snapshots));
    view.close();
    view.say([
      ...summary(played, {
        steps: done,
        elapsedMs: clock.now() - startedAt,
        clusterMs: fast.now() - clusterStartedAt,
      }),
    ]);
    if (!options.keep) {
      view.say(whatNext());
      return exitCodes.ok;
    }
    await fast.catchUp();
    view.say(kept(parts, cluster.kubeconfig));
    await untilAborted(signal);
    if (host.signal.aborted) return exitCodes.ok;
    throw signal.reason;
  } catch (error) {
    view.close();
    if (host.signal.aborted) {
      host.stderr('edgeset demo: interrupted\n');
      return exitCodes.failed;
    }
    if (!(error instanceof DemoFailure)) throw error;
    host.stderr(`edgeset demo: ${error.message}\n`);
    host.stderr(`The last words of the manager (seed ${options.seed}):\n`);
    for (const line of manager.log().slice(-LOG_LINES)) host.stderr(`  ${line}\n`);
    return exitCodes.failed;
  } finally {
    view.close();
    ending.abort();
    await manager.stop();
    await broken;
    await Promise.allSettled(background);
    await Promise.allSettled(clients.map((client) => client.close()));
    await cluster.stop();
    fast.stop();
  }
};

const selectorOf = ({ daemonSet }: Part): string =>
  Object.entries(daemonSet.spec?.selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const untilAborted = (signal: AbortSignal): Promise<void> =>
  sleep(systemClock, Number.MAX_SAFE_INTEGER, signal).catch(() => undefined);
