import type { Benchmark } from './measure/figure.ts';
import { liveHeap } from './measure/machine.ts';
import { createFleet } from './virtual/fleet.ts';

/** As JSON a Node and a Pod are some 15 KiB. */
const GOAL_BYTES = 2 * 1024;

/** What the native controller keeps for a node with one pod: two caches and the ledger. */
export const heap: Benchmark = {
  name: 'heap',
  async run({ quick }) {
    const nodes = quick ? 5_000 : 20_000;
    const fleet = createFleet({
      nodes,
      maxUnavailable: '10%',
      downMs: () => 6_000,
      roundTripMs: 1,
      watchLagMs: 1,
      copies: true,
    });
    const before = liveHeap();
    await fleet.start();
    const resting = (liveHeap() - before) / nodes;
    await fleet.stop();
    return [
      {
        name: 'heap',
        measured: `${Math.round(resting)} bytes a node with its pod, N=${nodes}`,
        goal: `<= ${GOAL_BYTES} bytes`,
        met: resting <= GOAL_BYTES,
      },
    ];
  },
};
