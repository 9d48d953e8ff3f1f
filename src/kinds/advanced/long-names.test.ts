import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitions } from '../../kube/index.ts';
import { advancedDaemonSetCrd } from './api/crd.ts';
import { advancedDaemonSets, MAX_NAME_LENGTH } from './api/types.ts';
import { type Fleet, NAMESPACE, withFleet } from './testing/fleet.ts';

const longest = 'n'.repeat(MAX_NAME_LENGTH);
const tooLong = `${longest}x`;

const create = ({ client }: Fleet, name: string) =>
  client.create(advancedDaemonSets, {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { namespace: NAMESPACE, name },
    spec: {
      selector: { matchLabels: { app: 'long' } },
      template: {
        metadata: { labels: { app: 'long' } },
        spec: { containers: [{ name: 'app', image: 'app:v1' }] },
      },
    },
  });

const setRule = ({ client }: Fleet, isInForce: boolean): Promise<unknown> => {
  const versions = structuredClone(advancedDaemonSetCrd.spec.versions);
  for (const { schema } of versions)
    if (!isInForce) delete schema?.openAPIV3Schema?.['x-kubernetes-validations' as keyof object];
  const { name } = advancedDaemonSetCrd.metadata;
  return client.patch(customResourceDefinitions, { name: name ?? '' }, { spec: { versions } }, { type: 'merge' });
};

it(
  'a longer name is refused; one that is older than the schema is reported, and can be changed and deleted',
  withFleet(async (fleet) => {
    await assert.rejects(create(fleet, tooLong), { code: 'Invalid', message: /must be at most 238 characters long/ });
    await setRule(fleet, false);
    await create(fleet, tooLong);
    await setRule(fleet, true);
    const ref = { namespace: NAMESPACE, name: tooLong };
    const stalled = await fleet.until('condition Stalled is True', async () =>
      (await fleet.client.get(advancedDaemonSets, ref)).status?.conditions?.find(
        ({ type, status }) => type === 'Stalled' && status === 'True',
      ),
    );
    assert.equal(stalled.reason, 'InvalidPolicy');
    assert.match(
      stalled.message,
      /^metadata\.name .* has more than 238 characters.*create it again with a shorter name/,
    );
    assert.equal(fleet.reasons().filter((reason) => reason === 'InvalidPolicy').length, 1);
    await fleet.client.patch(advancedDaemonSets, ref, { spec: { minReadySeconds: 1 } }, { type: 'merge' });
    await fleet.until('the change is observed', async () => {
      const { status, metadata } = await fleet.client.get(advancedDaemonSets, ref);
      return status?.observedGeneration === metadata.generation && metadata.generation === 2;
    });
    await fleet.client.delete(advancedDaemonSets, ref);
    assert.equal((await fleet.client.list(advancedDaemonSets, { namespace: NAMESPACE })).items.length, 0);
  }),
);
