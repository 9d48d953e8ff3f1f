export { type ApiServer, type ApiServerOptions, startApiServer } from './http/server.ts';
export { createMachinery, type MachineryOptions } from './machinery.ts';
