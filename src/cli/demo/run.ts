import { writeFile } from 'node:fs/promises';
import { type Clock, createRandom, sleep, systemClock, untilAborted } from '../../runtime/index.ts';
import { type ExitCode, exitCodes } from '../io.ts';
import { type Environment, type StartManager, startEnvironment } from './environment.ts';
import { createObserver, type Observer } from './observer.ts';
import type { DemoOptions } from './options.ts';
import { createPart, type Part, type Step } from './parts/index.ts';
import { createStepContext, DemoFailure } from './step.ts';
import { introduction, keptCluster, nextCommands, summary } from './text.ts';
import { drawPicture, type Picture, type StepProgress, type View } from './view/index.ts';

export interface DemoHost {
  view: View;
  stderr: (text: string) => void;
  /** Aborts when the user interrupts the demo. */
  signal: AbortSignal;
  /** Real time. Default: the system clock. */
  clock?: Clock;
  /** Default: the manager as `edgeset manager` runs it. */
  startManager?: StartManager;
}

/** A part that has run, with its observer. */
export interface FinishedPart {
  part: Part;
  observer: Observer;
}

interface RunOptions {
  environment: Environment;
  parts: readonly Part[];
  view: View;
  /** Real time. */
  clock: Clock;
  speed: number;
}

const LOG_LINES = 15;
/** Between two frames. */
const FRAME_MS = 100;
const SECOND_MS = 1000;

/** Draws at every change, at most ten times a second, and once a second for the elapsed time. Ends with the signal. */
const keepDrawing = async (
  observer: Observer,
  clock: Clock,
  draw: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  try {
    for (;;) {
      const drawn = observer.changes();
      await draw();
      await sleep(clock, FRAME_MS, signal);
      if (observer.changes() === drawn) await observer.nextChange(clock, SECOND_MS - FRAME_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** Runs one step while the view shows it. Rejects with a `DemoFailure` that names the step. */
const runStep = async (
  run: () => Promise<string>,
  progress: () => StepProgress,
  { observer, view, clock, signal }: { observer: Observer; view: View; clock: Clock; signal: AbortSignal },
): Promise<void> => {
  const draw = async (): Promise<void> => view.show(progress(), await observer.snapshot());
  view.step(progress());
  const ended = new AbortController();
  const drawing = keepDrawing(observer, clock, draw, AbortSignal.any([signal, ended.signal]));
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
    throw new DemoFailure(error.expected, error.seen, `step ${step} of ${steps} (${title}) failed: `);
  } finally {
    ended.abort();
    await drawing.catch(() => undefined);
  }
};

/** Runs the parts one after the other on the same cluster. Rejects with a `DemoFailure`. */
const runParts = async (options: RunOptions): Promise<{ finished: FinishedPart[]; pictures: Picture[] }> => {
  const { environment, parts, view, clock, speed } = options;
  const { cluster, client, signal, agent } = environment;
  const startedAt = clock.now();
  const steps = parts.flatMap((part) => part.steps);
  const finished: FinishedPart[] = [];
  const pictures: Picture[] = [];
  for (const part of parts) {
    for (const { name, ...node } of part.nodes) cluster.addNode(name, node);
    const observer = createObserver({ apiServer: cluster.apiServer, client, clock: environment.clock, part });
    const keepPicture = async (caption: string): Promise<void> =>
      void pictures.push({ caption, snapshot: await observer.snapshot() });
    const context = createStepContext({ part, client, observer, clock: environment.clock, signal, agent, keepPicture });
    const progressOf = (step: Step) => (): StepProgress => ({
      heading: part.heading,
      step: steps.indexOf(step) + 1,
      steps: steps.length,
      title: step.title,
      text: step.text,
      speed,
      elapsedMs: clock.now() - startedAt,
    });
    try {
      for (const step of part.steps)
        await runStep(() => step.run(context), progressOf(step), { observer, view, clock, signal });
      // Leave time to look at the last picture, too.
      await sleep(clock, view.readingMs, signal);
    } finally {
      observer.stop();
    }
    finished.push({ part, observer });
  }
  return { finished, pictures };
};

/** Runs the demo on a cluster of its own. Resolves with the exit code, which is not 0 when a step fails. */
export const runDemo = async (options: DemoOptions, host: DemoHost): Promise<ExitCode> => {
  const { clock = systemClock, view, stderr, signal, startManager } = host;
  const { speed, seed } = options;
  const random = createRandom(seed);
  const parts = options.parts.map((name) => createPart(name, { fleet: options.fleet, random }));
  view.say(introduction(parts, options));
  const startedAt = clock.now();
  const environment = await startEnvironment({ startManager, clock, speed, random, signal });
  try {
    const clusterStartedAt = environment.clock.now();
    const { finished, pictures } = await runParts({ environment, parts, view, clock, speed });
    const elapsedMs = clock.now() - startedAt;
    const clusterMs = environment.clock.now() - clusterStartedAt;
    if (options.picture !== undefined) await writeFile(options.picture, drawPicture(pictures));
    view.close();
    view.say(summary(finished, { elapsedMs, clusterMs }));
    if (!options.keep) {
      view.say(nextCommands());
      return exitCodes.ok;
    }
    await environment.clock.catchUp();
    view.say(keptCluster(parts, environment.kubeconfig));
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
    stderr(`edgeset demo: ${error.message}\n`);
    stderr(`To repeat this run: --seed ${seed} --speed ${speed}. Last lines of the manager's log:\n`);
    for (const line of environment.manager.log().slice(-LOG_LINES)) stderr(`  ${line}\n`);
    return exitCodes.failed;
  } finally {
    await environment.close();
  }
};
