export { controllerDefinitions } from './controllers.ts';
export { createImageService } from './image-service.ts';
export { createManagerMetrics } from './metrics.ts';
export type { ManagerFlags } from './options.ts';
export { type ManagerHost, runManagerProcess } from './run.ts';
export type { Controller } from './types.ts';
