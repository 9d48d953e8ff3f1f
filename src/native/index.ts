export {
  createNativeController,
  type NativeController,
  type NativeControllerOptions,
  type RolloutSnapshot,
} from './controller.ts';
export type { ControllerObserver } from './observer.ts';
