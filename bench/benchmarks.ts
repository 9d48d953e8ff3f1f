import { advancedCreate } from './advanced-create.ts';
import { advancedMemory } from './advanced-memory.ts';
import { advancedReal } from './advanced-real.ts';
import { agentFootprint } from './agent-footprint.ts';
import { event } from './event.ts';
import { foreign } from './foreign.ts';
import { heap } from './heap.ts';
import { ingest } from './ingest.ts';
import type { Benchmark } from './measure/figure.ts';
import { memoryReal } from './memory-real.ts';
import { rolloutReal } from './rollout-real.ts';
import { rolloutVirtual } from './rollout-virtual.ts';
import { sim } from './sim.ts';

/** In the order in which they run: the last ones start a real control plane each. */
export const benchmarks: readonly Benchmark[] = [
  event,
  rolloutVirtual,
  sim,
  ingest,
  heap,
  foreign,
  agentFootprint,
  rolloutReal,
  memoryReal,
  advancedReal,
  advancedCreate,
  advancedMemory,
];
