import { phases } from '../../words/index.ts';
import type { Snapshot } from '../fleet/index.ts';
import { formatLeft } from './text.ts';
import type { StepProgress, View } from './view.ts';

/** Real time between two lines about the progress of a rollout. */
const BETWEEN_CHANGES_MS = 1000;
/** One per pod: the counts say the same in less space. */
const QUIET = 'SuccessfulDelete';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(5)}s`;

const summary = ({ counts, budget, halted }: Snapshot): string => {
  const parts = phases.flatMap((phase) => (counts[phase] ? [`${counts[phase]} ${phase}`] : []));
  const slots = budget.limit > 0 ? `  budget ${budget.inUse}/${budget.limit}` : '';
  return parts.length === 0 ? '' : `${parts.join(', ')}${slots}${halted ? '  HALTED' : ''}`;
};

/** One line for each step and change, without colors and control characters: for logs, pipes and CI. */
export const createPlainView = (write: (text: string) => void): View => {
  let printedEvents = 0;
  let printed = '';
  let printedAt = Number.NEGATIVE_INFINITY;
  let pending: string | undefined;
  const line = (progress: StepProgress, text: string): void => write(`${seconds(progress.elapsedMs)}  ${text}\n`);
  const flush = (progress: StepProgress): void => {
    if (pending !== undefined) line(progress, `  nodes  ${pending}`);
    if (pending !== undefined) printed = pending;
    pending = undefined;
  };
  return {
    readingMs: 0,
    say: (lines) => write(`${lines.join('\n')}\n`),
    step(progress) {
      printedEvents = progress.step === 1 ? 0 : printedEvents;
      const { step, steps, title, leftMs } = progress;
      line(progress, `step ${step} of ${steps}, ${formatLeft(leftMs)} left  ${title}`);
      line(progress, `  ${progress.text}`);
    },
    show(progress, snapshot) {
      // The Events of the next part start from scratch.
      if (snapshot.events.length < printedEvents) printedEvents = 0;
      for (const { reason, note, warning } of snapshot.events.slice(printedEvents))
        if (reason !== QUIET) line(progress, `  event  ${warning ? 'Warning ' : ''}${reason}: ${note}`);
      printedEvents = snapshot.events.length;
      const text = summary(snapshot);
      pending = text === printed || text === '' ? undefined : text;
      if (pending === undefined || progress.elapsedMs - printedAt < BETWEEN_CHANGES_MS) return;
      flush(progress);
      printedAt = progress.elapsedMs;
    },
    passed(progress, seen) {
      flush(progress);
      line(progress, `  ok     ${seen}`);
    },
    failed(progress, why) {
      flush(progress);
      line(progress, `  FAILED ${why}`);
    },
    close: () => undefined,
  };
};
