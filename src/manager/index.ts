export { createManagerClients, type ManagerClients, type ManagerClientsOptions } from './clients.ts';
export { controllerDefinitions } from './controllers.ts';
export { electByLease } from './election.ts';
export { createImageService } from './image-service.ts';
export { createManagerMetrics } from './metrics.ts';
export type { ManagerFlags } from './options.ts';
export { type ManagerHost, runManagerProcess } from './run.ts';
export { runControllers } from './run-controllers.ts';
export type { Controller } from './types.ts';
