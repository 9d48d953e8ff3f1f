import { writeFile } from 'node:fs/promises';
import type { Addresses, OwnDashboard } from '../../dashboard/index.ts';
import {
  anySignal,
  type Clock,
  createRandom,
  silentLogger,
  sleep,
  systemClock,
  untilAborted,
} from '../../runtime/index.ts';
import { quoted } from '../../text/index.ts';
import { keepDrawing } from '../../view/index.ts';
import { drawPicture, type Picture } from '../fleet/index.ts';
import { type ExitCode, exitCodes } from '../io.ts';
import { version } from '../version.ts';
import { DemoFailure, type Environment, type StartManager, startEnvironment } from './environment.ts';
import { createObserver } from './observer.ts';
import type { DemoOptions } from './options.ts';
import { createPart, type Part } from './parts/index.ts';
import type { Observer } from './parts/part.ts';
import { carryOut } from './step.ts';
import { estimateMs, introduction, keptCluster, nextCommands, type PartResult, summary } from './text.ts';
import type { StepProgress, View } from './view.ts';

export interface DemoHost {
  view: View;
  stderr: (text: string) => void;
  /** Aborts when the user interrupts the demo. */
  signal: AbortSignal;
  /** Opens the page of the dashboard for the user. */
  openPage?: (addresses: Addresses) => void;
  /** Default: the manager as `edgeset manager` runs it. */
  startManager?: StartManager;
}

const LOG_LINES = 15;
/** Real time. */
const clock: Clock = systemClock;

interface StepOptions {
  progress: () => StepProgress;
  observer: Observer;
  view: View;
  signal: AbortSignal;
}

/** Runs one step while the view shows it. Rejects with a `DemoFailure` that names the step. */
const showStep = async (
  run: () => Promise<string>,
  { progress, observer, view, signal }: StepOptions,
): Promise<void> => {
  const draw = async (): Promise<void> => view.show(progress(), await observer.snapshot());
  const ended = new AbortController();
  view.step(progress());
  const drawing = keepDrawing(clock, () => observer.changes(), draw, anySignal(signal, ended.signal));
  const drawLast = async (): Promise<void> => {
    ended.abort();
    await drawing;
    await draw();
  };
  try {
    const result = sleep(clock, view.readingMs, signal).then(run);
    // An error while drawing must end the step, too.
    const seen = await Promise.race([result, drawing.then(() => result)]);
    await drawLast();
    view.passed(progress(), seen);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof DemoFailure)) throw error;
    await drawLast();
    view.failed(progress(), error.message);
    const { step, steps, title } = progress();
    throw new DemoFailure(`step ${step} of ${steps} (${title}) failed: ${error.message}`, { cause: error });
  } finally {
    ended.abort();
    await drawing.catch(() => undefined);
  }
};

/** Serves the dashboard of the cluster, in the cluster's time. Its addresses show the rollout, if there is only one. */
const serveDashboard = async (
  { client, clock: clusterClock, kubeconfig }: Environment,
  parts: readonly Part[],
  random: () => number,
): Promise<OwnDashboard> => {
  const { kubectlEdgeset, openDashboard, runCommand } = await import('../../dashboard/index.ts');
  // Copied as it is, it must not act on another cluster.
  const edgeset = (words: string, of?: string): string =>
    `${kubectlEdgeset(words, of)} --kubeconfig ${quoted(kubeconfig)}`;
  const [only, ...others] = parts;
  const { namespace, name } = only?.daemonSet.metadata ?? {};
  return openDashboard({
    connection: { client, cluster: 'demo', env: { clock: clusterClock, random, log: silentLogger } },
    namespace: undefined,
    edgeset,
    port: 0,
    ...(only && others.length === 0 && { shown: `/${namespace}/${only.kind.short}/${name}` }),
    run: (request) => runCommand(request, { kubeconfig }, { environment: {}, random, version, edgeset }),
  });
};

/** Runs the parts one after the other on the same cluster. Rejects with a `DemoFailure`. */
const runParts = async (environment: Environment, parts: readonly Part[], view: View, speed: number) => {
  const { cluster, signal } = environment;
  const startedAt = clock.now();
  const all = parts.flatMap(({ steps }) => steps);
  const results: PartResult[] = [];
  const pictures: Picture[] = [];
  for (const part of parts) {
    for (const { name, ...node } of part.nodes) cluster.addNode(name, node);
    const observer = createObserver(environment, part);
    const figures: [string, string][] = [];
    const context = {
      part,
      environment,
      observer,
      keepPicture: async (caption: string) => void pictures.push({ caption, snapshot: await observer.snapshot() }),
      figure: (label: string, value: string) => void figures.push([label, value]),
    };
    try {
      for (const step of part.steps) {
        const { heading } = part;
        const { title, text } = step;
        const number = all.indexOf(step) + 1;
        const about = { heading, title, text, step: number, steps: all.length, speed };
        const stepStartedAt = clock.now();
        const pace = { speed, readingMs: view.readingMs };
        const [own, later] = [estimateMs([step], pace), estimateMs(all.slice(number), pace)];
        const progress = (): StepProgress => {
          const now = clock.now();
          return {
            ...about,
            elapsedMs: now - startedAt,
            leftMs: later + Math.max(0, own - (now - stepStartedAt)),
          };
        };
        await showStep(() => carryOut(step, context), { progress, observer, view, signal });
      }
      // Leave time to look at the last picture, too.
      await sleep(clock, view.readingMs, signal);
    } finally {
      observer.stop();
    }
    results.push({ part, availability: observer.availability, figures });
  }
  return { results, pictures };
};

/** Runs the demo on its own cluster. Resolves with the exit code, which is not 0 when a step fails. */
export const runDemo = async (options: DemoOptions, host: DemoHost): Promise<ExitCode> => {
  const { view, stderr, signal, openPage, startManager } = host;
  const { speed, seed, fleet } = options;
  const random = createRandom(seed);
  const parts = options.parts.map((name) => createPart[name]({ fleet, random }));
  view.say(introduction(parts, options, view.readingMs));
  const startedAt = clock.now();
  const environment = await startEnvironment({ startManager, clock, speed, random, signal });
  let dashboard: OwnDashboard | undefined;
  let address: string | undefined;
  try {
    if (options.dashboard) {
      dashboard = await serveDashboard(environment, parts, random);
      dashboard.keepPrinting((next, isFirst) => {
        address = next;
        view.say([isFirst ? 'The dashboard of this cluster, for one page:' : 'For the next page:', next, '']);
      });
      openPage?.(dashboard);
    }
    const clusterStartedAt = environment.clock.now();
    const { results, pictures } = await runParts(environment, parts, view, speed);
    const elapsedMs = clock.now() - startedAt;
    const clusterMs = environment.clock.now() - clusterStartedAt;
    if (options.picture !== undefined) await writeFile(options.picture, drawPicture(pictures));
    view.close();
    view.say(summary(results, { elapsedMs, clusterMs }));
    if (!options.keep) {
      view.say(nextCommands);
      return exitCodes.ok;
    }
    await environment.clock.catchUp();
    view.say(keptCluster(parts, environment.kubeconfig, address));
    await untilAborted(environment.signal);
    if (signal.aborted) return exitCodes.ok;
    throw environment.signal.reason;
  } catch (error) {
    view.close();
    if (signal.aborted) {
      stderr('edgeset demo: interrupted\n');
      return exitCodes.failed;
    }
    if (!(error instanceof DemoFailure)) throw error;
    const log = environment.manager.log().slice(-LOG_LINES);
    stderr(`edgeset demo: ${error.message}\n`);
    stderr(`To repeat this run: --seed ${seed} --speed ${speed}. Last lines of the manager's log:\n`);
    for (const line of log) stderr(`  ${line}\n`);
    return exitCodes.failed;
  } finally {
    await dashboard?.close();
    await environment.close();
  }
};
