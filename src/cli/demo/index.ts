export { resolveDemoOptions } from './options.ts';
export { runDemo } from './run.ts';
export type { View } from './view.ts';
