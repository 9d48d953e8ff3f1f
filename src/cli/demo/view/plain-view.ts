import { phases } from '../../../rollout/index.ts';
import type { Playing, Scene } from '../scene.ts';
import type { View } from './view.ts';

/** Of our own time between two lines about a rollout that goes on. */
const BETWEEN_CHANGES_MS = 1000;
/** One a pod: the counts tell it shorter. */
const QUIET = 'SuccessfulDelete';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(5)}s`;

const summary = ({ counts, budget, halted }: Scene): string => {
  const parts = phases.flatMap((phase) => (counts[phase] ? [`${counts[phase]} ${phase}`] : []));
  const slots = budget.limit > 0 ? `  budget ${budget.inUse}/${budget.limit}` : '';
  return parts.length === 0 ? '' : `${parts.join(', ')}${slots}${halted ? '  HALTED' : ''}`;
};

/** One line for each step and change, without colours and control characters: for logs, pipes and CI. */
export const createPlainView = (write: (text: string) => void): View => {
  let told = 0;
  let said = '';
  let saidAt = Number.NEGATIVE_INFINITY;
  let pending: string | undefined;
  const line = (playing: Playing, text: string): void => write(`${seconds(playing.elapsedMs)}  ${text}\n`);
  const flush = (playing: Playing): void => {
    if (pending !== undefined) line(playing, `  nodes  ${pending}`);
    if (pending !== undefined) said = pending;
    pending = undefined;
  };
  return {
    readingMs: 0,
    say: (lines) => write(`${lines.join('\n')}\n`),
    step(playing) {
      told = playing.step === 1 ? 0 : told;
      line(playing, `step ${playing.step}/${playing.steps}  ${playing.title}`);
      line(playing, `  ${playing.look}`);
    },
    show(playing, scene) {
      // A part of its own begins with no Events.
      if (scene.events.length < told) told = 0;
      for (const { reason, note, warning } of scene.events.slice(told))
        if (reason !== QUIET) line(playing, `  event  ${warning ? 'Warning ' : ''}${reason}: ${note}`);
      told = scene.events.length;
      const text = summary(scene);
      pending = text === said || text === '' ? undefined : text;
      if (pending === undefined || playing.elapsedMs - saidAt < BETWEEN_CHANGES_MS) return;
      flush(playing);
      saidAt = playing.elapsedMs;
    },
    passed(playing, seen) {
      flush(playing);
      line(playing, `  ok     ${seen}`);
    },
    failed(playing, why) {
      flush(playing);
      line(playing, `  FAILED ${why}`);
    },
    close: () => undefined,
  };
};
