export { createDaemonSetController } from './daemonset/index.ts';
export {
  createEventRecorder,
  createEventTtlController,
  disableEvents,
  type EventRecorder,
  involvedObject,
} from './events.ts';
export { createGarbageCollector, type GarbageCollector } from './garbage-collector.ts';
export { type Controller, type Controls, createInformers, type InformerEvent } from './informers.ts';
export { createNodeLifecycleController } from './node-lifecycle.ts';
export { createPodGarbageCollector } from './pod-gc.ts';
export { createScheduler } from './scheduler.ts';
export { NODE_LEASES } from './taints.ts';
export { createTimerQueue } from './timer-queue.ts';
