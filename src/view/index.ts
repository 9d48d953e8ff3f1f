export { type ReadOptions, readRollout } from './read-rollout.ts';
export { type RolloutReading, reportedStall } from './rollout-display.ts';
export { type RolloutWatch, type WatchRolloutOptions, watchNodes, watchRollout } from './watch-rollout.ts';
