export { processIo } from './io.ts';
export { complete, main } from './main.ts';
