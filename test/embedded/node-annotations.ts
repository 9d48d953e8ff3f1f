import type { NodeBehaviour } from '../conformance/index.ts';

/** The node annotations for a behaviour; null removes one. */
export const nodeAnnotations = (wanted: NodeBehaviour | undefined): Record<string, string | null> => ({
  'sim.edgeset.io/behaviour': wanted?.behaviour ?? null,
  'sim.edgeset.io/start-ms': wanted?.startMs?.toString() ?? null,
  'sim.edgeset.io/stop-ms': wanted?.stopMs?.toString() ?? null,
  'sim.edgeset.io/die-ms': wanted?.dieMs?.toString() ?? null,
});
