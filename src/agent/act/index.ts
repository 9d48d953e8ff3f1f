export { createActs } from './acts.ts';
export { type CarryOut, createCarryOut } from './carry-out.ts';
export { createCompatible } from './compatible.ts';
export { createDecide } from './decide.ts';
export { createEngine, type Engine } from './engine.ts';
export { createExclusive } from './exclusive.ts';
export { createFresh } from './fresh.ts';
export { createTell } from './tell.ts';
export { updateOf } from './view.ts';
