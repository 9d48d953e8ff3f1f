import type { KubeClient } from '../../kube/index.ts';
import { type Clock, type Env, sleep } from '../../runtime/index.ts';
import type { DemoAgent } from './agent.ts';
import type { Part, Step } from './parts/index.ts';
import type { Snapshot } from './picture.ts';
import type { Playing } from './scene.ts';
import { createStage, DemoFailure } from './stage.ts';
import type { View } from './view/index.ts';
import type { Witness } from './witness.ts';

export interface PlayOptions {
  part: Part;
  witness: Witness;
  client: KubeClient;
  view: View;
  /** Our own time. */
  clock: Clock;
  /** The cluster's. */
  env: Env;
  signal: AbortSignal;
  speed: number;
  startedAt: number;
  /** Steps that earlier parts had. */
  from: number;
  /** Steps of all parts. */
  steps: number;
  agent: (node: string) => Promise<DemoAgent>;
  keep: (snapshot: Snapshot) => void;
}

/** Between two pictures, so that the terminal is not the work. */
const FRAME_MS = 100;
const SECOND_MS = 1000;

/** Plays one part, with its picture kept up to date. Rejects with a `DemoFailure` that names the step. */
export const playPart = async (options: PlayOptions): Promise<void> => {
  const { part, witness, view, clock, signal, from } = options;
  const playing = (step: Step): Playing => ({
    heading: part.heading,
    step: from + part.steps.indexOf(step) + 1,
    steps: options.steps,
    title: step.title,
    look: step.look,
    speed: options.speed,
    elapsedMs: clock.now() - options.startedAt,
  });
  for (const step of part.steps) {
    const stage = createStage({
      client: options.client,
      clock: options.env.clock,
      witness,
      kind: part.kind,
      daemonSet: part.daemonSet,
      signal,
      agent: options.agent,
      snapshot: async (caption) => options.keep({ caption, scene: await witness.scene() }),
    });
    const show = async (): Promise<void> => view.show(playing(step), await witness.scene());
    view.step(playing(step));
    await show();
    const ended = new AbortController();
    const showing = keepShowing(witness, clock, show, AbortSignal.any([signal, ended.signal]));
    const settled = async (): Promise<void> => {
      ended.abort();
      await showing;
      await show();
    };
    try {
      const played = sleep(clock, view.readingMs, signal).then(() => step.play(stage));
      // Whatever fails in drawing must end the step, and not hide behind it.
      const seen = await Promise.race([played, showing.then(() => played)]);
      await settled();
      view.passed(playing(step), seen);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof DemoFailure)) throw error;
      await settled();
      view.failed(playing(step), error.message);
      const where = `step ${playing(step).step} of ${options.steps} (${step.title}) failed: `;
      throw new DemoFailure(error.expected, error.seen, where);
    } finally {
      ended.abort();
      await showing.catch(() => undefined);
    }
  }
  // The last picture is one to look at, too.
  await sleep(clock, view.readingMs, signal);
};

/** Draws at every change, ten times a second at most, and once a second for the clock. */
const keepShowing = async (
  witness: Witness,
  clock: Clock,
  show: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  let changed = true;
  let wake = (): void => undefined;
  const ended = witness.onChange(() => {
    changed = true;
    wake();
  });
  try {
    while (!signal.aborted) {
      changed = false;
      await show();
      await sleep(clock, FRAME_MS, signal);
      if (changed) continue;
      await new Promise<void>((resolve) => {
        const timer = clock.timer(SECOND_MS - FRAME_MS, () => wake());
        wake = () => {
          timer.cancel();
          signal.removeEventListener('abort', wake);
          wake = () => undefined;
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ended();
  }
};
