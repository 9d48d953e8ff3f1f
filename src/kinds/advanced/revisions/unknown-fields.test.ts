import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container } from 'kubernetes-types/core/v1.d.ts';
import { type Fleet, withFleet } from '../testing/fleet.ts';

const misspelled = { livenessProb: { tcpSocket: { port: 80 } } } as Partial<Container>;
const setContainer = (fleet: Fleet, fields: object) =>
  fleet.patch({ spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v1', ...fields }] } } } });

const untilInvalid = async (fleet: Fleet): Promise<void> => {
  const condition = await fleet.until('condition Stalled is True', fleet.stalled);
  assert.equal(condition.reason, 'InvalidTemplate');
  assert.match(condition.message, /unknown field "spec\.template\.spec\.containers\[0\]\.livenessProb"/);
};

const uids = async (fleet: Fleet): Promise<string> =>
  (await fleet.pods())
    .map(({ metadata }) => metadata?.uid ?? '')
    .toSorted((a, b) => a.localeCompare(b))
    .join();

describe('a field of the template that the API server does not know', () => {
  it(
    'makes a new DaemonSet invalid: it gets no pod until the field is right',
    withFleet(async (fleet) => {
      await fleet.create({}, {}, { spec: { containers: [{ name: 'app', image: 'app:v1', ...misspelled }] } });
      await untilInvalid(fleet);
      assert.equal((await fleet.pods()).length, 0);
      await setContainer(fleet, { livenessProbe: { tcpSocket: { port: 80 } } });
      await fleet.allRun('app:v1');
    }),
  );

  for (const [what, fields] of [
    ['beside another change', { image: 'app:v2', ...misspelled }],
    ['as the only change', misspelled],
  ] as const)
    it(
      `holds the rollout ${what}, also by the next leader`,
      withFleet(async (fleet) => {
        await fleet.create();
        await fleet.allRun('app:v1');
        const before = await uids(fleet);
        await setContainer(fleet, fields);
        await untilInvalid(fleet);
        await fleet.restart();
        await fleet.clock.advance(10_000);
        await untilInvalid(fleet);
        assert.equal(await uids(fleet), before);
      }),
    );

  it(
    'freezes nothing in a template that was accepted before, and is reported',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      const before = await uids(fleet);
      // As if a manager that dropped it had recorded the revision.
      await fleet.stop();
      await setContainer(fleet, misspelled);
      await fleet.restart();
      fleet.cluster.addNode('node-4', { labels: { name: 'node-4' } });
      await fleet.allRun('app:v1', 4);
      assert.equal(await fleet.stalled(), undefined);
      assert.equal(fleet.reasons().filter((reason) => reason === 'UnknownFields').length, 1);
      for (const uid of before.split(',')) assert.ok((await uids(fleet)).includes(uid));
      await setContainer(fleet, { image: 'app:v2', ...misspelled });
      await untilInvalid(fleet);
    }),
  );
});
