export {
  createNativeController,
  type NativeController,
  type NativeControllerOptions,
  type RolloutSnapshot,
} from './controller.ts';
export type { ControllerObserver } from './observer.ts';
export { NotOptedInError, type ReadOptions, type RolloutReading, readRollout } from './read-rollout.ts';
export { daemonRollouts, daemonSets } from './resources.ts';
