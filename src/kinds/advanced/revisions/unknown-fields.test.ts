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
});
