import { type Outcome, outcomeOf } from './outcome.ts';
import type { Situation } from './situation.ts';
import type { OpenStage } from './stage.ts';

/** What one situation leaves, and what it found on its way. */
export interface Recording extends Outcome {
  found?: unknown;
}

export const play = async (open: OpenStage, { nodes = 3, play: act }: Situation): Promise<Recording> => {
  const stage = await open(nodes);
  const found = await act(stage);
  await stage.quiet();
  const outcome = await outcomeOf(stage);
  // As it is when it has been written down and read again.
  return JSON.parse(JSON.stringify({ ...outcome, ...(found !== undefined && { found }) })) as Recording;
};
