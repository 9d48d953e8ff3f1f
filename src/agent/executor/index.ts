export { createDecide } from './decide.ts';
export { createAgentEvents } from './events.ts';
export { createExecutor, type Executor } from './executor.ts';
export { createLiveReads } from './live-reads.ts';
export { createMutex } from './mutex.ts';
export { createPodControl } from './pod-control.ts';
export { createReconciler, type Reconciler } from './reconciler.ts';
export { updateOf } from './update-view.ts';
export { createYurtHubApi } from './yurthub-api.ts';
