import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Fleet, withFleet } from '../testing/fleet.ts';

const removals = ({ requests }: Fleet): number =>
  requests.filter(({ verb, plural }) => verb === 'delete' && plural === 'pods').length;

/** When `count` pods have been removed and the next one exists. */
const afterRemoval = (fleet: Fleet, count: number): Promise<number> =>
  fleet.until(`pod ${count} was removed`, async () => {
    const [pod] = await fleet.pods();
    return removals(fleet) === count && pod && pod.metadata?.deletionTimestamp === undefined && fleet.clock.now();
  });

describe('a pod that keeps failing', () => {
  it(
    'is counted if its deletion is observed before the response to the delete',
    withFleet(
      async (fleet) => {
        fleet.faults.push({ verb: 'delete', plural: 'pods', delayMs: 700, left: 3 });
        await fleet.create({}, {}, { spec: { containers: [{ name: 'app', image: 'app:v1--failed' }] } });
        await afterRemoval(fleet, 3);
        const [pod] = await fleet.pods();
        assert.match(pod?.metadata?.annotations?.['edgeset.io/finished-pods'] ?? '', /^3 /);
      },
      ['node-1'],
    ),
  );

  it(
    'starts without back-off after a template change',
    withFleet(
      async (fleet) => {
        await fleet.create({}, {}, { spec: { containers: [{ name: 'app', image: 'app:v1--failed' }] } });
        for (let count = 1; count <= 5; count += 1) await afterRemoval(fleet, count);
        const since = fleet.clock.now();
        await fleet.setImage('app:v2--failed');
        // One removal is for the update, and one for the first failure of the new revision.
        await afterRemoval(fleet, 7);
        assert.ok(fleet.clock.now() - since < 6_000);
      },
      ['node-1'],
    ),
  );
});
