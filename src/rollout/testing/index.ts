export { approve, ring, stagedBench } from './staged.ts';
export { benchAt, type Workbench } from './workbench.ts';
