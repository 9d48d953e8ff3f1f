export { createDaemonSetController } from './controller.ts';
export { nodeOf } from './pods.ts';
