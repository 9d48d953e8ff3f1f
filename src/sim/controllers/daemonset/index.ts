export { createDaemonSetController, type DaemonSetController } from './controller.ts';
export { nodeOf } from './pods.ts';
