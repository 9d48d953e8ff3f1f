import { advancedCreate } from './advanced-create.ts';
import { advancedMemory } from './advanced-memory.ts';
import { advancedReal } from './advanced-real.ts';
import { agentFootprint } from './agent-footprint.ts';
import { cliStart } from './cli-start.ts';
import { clusters } from './clusters.ts';
import { dashboard } from './dashboard.ts';
import { event } from './event.ts';
import { foreign } from './foreign.ts';
import { heap } from './heap.ts';
import { hostileNamespace } from './hostile-namespace.ts';
import { ingest } from './ingest.ts';
import { manyReal } from './many-real.ts';
import type { Benchmark } from './measure/figure.ts';
import { memoryReal } from './memory-real.ts';
import { rolloutReal } from './rollout-real.ts';
import { rolloutVirtual } from './rollout-virtual.ts';
import { scale } from './scale.ts';
import { sim } from './sim.ts';
import { soak, soakResident } from './soak.ts';
import { statusLag } from './status-lag.ts';
import { storm } from './storm.ts';

/** In the order in which they run: the last ones start a real control plane each. */
export const benchmarks: readonly Benchmark[] = [
  event,
  rolloutVirtual,
  scale,
  storm,
  soak,
  soakResident,
  clusters,
  sim,
  ingest,
  heap,
  foreign,
  agentFootprint,
  cliStart,
  rolloutReal,
  statusLag,
  dashboard,
  memoryReal,
  manyReal,
  advancedReal,
  advancedCreate,
  advancedMemory,
  hostileNamespace,
];
