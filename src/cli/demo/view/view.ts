import type { Playing, Scene } from '../scene.ts';

/** Shows a run to a person, live or in a log. */
export interface View {
  /** Words before the first step, between parts and after the last. */
  say(lines: readonly string[]): void;
  /** A step begins. */
  step(playing: Playing): void;
  /** The cluster has changed, or time has passed. */
  show(playing: Playing, scene: Scene): void;
  /** A step has ended well, having shown what `seen` says. */
  passed(playing: Playing, seen: string): void;
  /** A step has ended badly. */
  failed(playing: Playing, why: string): void;
  /** How long a step's sentence stands before anything happens. */
  readonly readingMs: number;
  close(): void;
}
