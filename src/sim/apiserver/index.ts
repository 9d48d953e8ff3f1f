export { createMachinery, type MachineryOptions } from './machinery.ts';
