import type { Snapshot } from '../fleet/index.ts';

/** The step that is running. */
export interface StepProgress {
  /** Of the part. */
  heading: string;
  /** From 1, across all parts. */
  step: number;
  steps: number;
  title: string;
  text: string;
  speed: number;
  /** Real time since the demo started. */
  elapsedMs: number;
  /** Until the last step has passed, as an estimate, in real time. */
  leftMs: number;
}

/** Shows the demo to the user, live or as a log. */
export interface View {
  /** Prints lines before the first step or after the last one. */
  say(lines: readonly string[]): void;
  /** A step starts. */
  step(progress: StepProgress): void;
  /** The cluster has changed, or time has passed. */
  show(progress: StepProgress, snapshot: Snapshot): void;
  /** The step passed; `seen` describes what happened. */
  passed(progress: StepProgress, seen: string): void;
  failed(progress: StepProgress, why: string): void;
  /** Time to read a step's text before anything happens. */
  readonly readingMs: number;
  close(): void;
}
