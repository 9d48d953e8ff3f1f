export type { Controller, ControllerDefinition } from './controller.ts';
export { controllerDefinitions } from './controllers.ts';
export { electByLease } from './election.ts';
export { createImageService } from './image-service.ts';
export { runControllers } from './lifecycle.ts';
export type { ManagerFlags } from './options.ts';
export { type ManagerHost, runManagerProcess } from './run.ts';
