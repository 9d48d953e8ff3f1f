import type { Stage } from './stage.ts';

/** Something that happens to a DaemonSet. What is left at the end is compared; `play` may give more to compare. */
export interface Situation {
  name: string;
  /** Default 3. */
  nodes?: number;
  play: (stage: Stage) => Promise<unknown>;
}
