import type { OpenCluster, ScenarioCluster } from './cluster.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** A scenario for a DaemonSet. Its final state is compared, and what `run` returns. */
export interface Scenario {
  name: string;
  /** Default 3. */
  nodes?: number;
  run: (cluster: ScenarioCluster) => Promise<unknown>;
}

/** The result of a scenario, and what it returned. */
export interface Recording extends Outcome {
  found?: unknown;
}

export const runScenario = async (open: OpenCluster, { nodes = 3, run }: Scenario): Promise<Recording> => {
  const cluster = await open(nodes);
  const found = await run(cluster);
  await cluster.untilIdle();
  const outcome = await outcomeOf(cluster);
  // Serialized like the recording.
  return JSON.parse(JSON.stringify({ ...outcome, ...(found !== undefined && { found }) })) as Recording;
};
