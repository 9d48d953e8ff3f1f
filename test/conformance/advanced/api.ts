import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defineResource, type KubeClient, type KubeObject, type Resource } from '../../../src/kube/index.ts';
import { assertVerdict } from '../kit/index.ts';
import { type Json, type SpecCase, specCases } from './specs.ts';

export type AdvancedObject = KubeObject & { spec: Json };

export const advancedDaemonSets = (version: 'v1alpha1' | 'v1beta1' = 'v1alpha1'): Resource<AdvancedObject> =>
  defineResource<AdvancedObject>({
    group: 'apps.kruise.io',
    version,
    plural: 'daemonsets',
    kind: 'DaemonSet',
    namespaced: true,
  });

const check = (client: KubeClient, namespace: string, each: SpecCase): Promise<void> => {
  const object = { metadata: { generateName: 'case-', namespace }, spec: each.spec };
  return assertVerdict(client.create(advancedDaemonSets(each.version), object, { dryRun: true }), each);
};

/** Registers a test for every spec of the table, and for what an update may change. */
export const describeAdvancedApi = (subject: () => { client: KubeClient; namespace: string }): void => {
  for (const each of specCases)
    it(`${each.refused ? 'refuses' : 'accepts'} ${each.name}`, () => {
      const { client, namespace } = subject();
      return check(client, namespace, each);
    });

  it('keeps the selector for life, and says how to change it all the same', async () => {
    const { client, namespace } = subject();
    const [first] = specCases;
    assert.ok(first);
    const resource = advancedDaemonSets();
    const made = await client.create(resource, { metadata: { name: 'settled', namespace }, spec: first.spec });
    const other = { matchLabels: { app: 'other' } };
    const body = { spec: { selector: other, template: { metadata: { labels: other.matchLabels } } } };
    await assert.rejects(
      client.patch(resource, { namespace, name: 'settled' }, body, { type: 'merge' }),
      /--cascade=orphan/,
    );
    assert.equal(made.metadata?.generation, 1);
  });

  it('is one object in both versions', async () => {
    const { client, namespace } = subject();
    const ref = { namespace, name: 'twofold' };
    const spec = { ...specCases[0]?.spec, minReadySeconds: 7 };
    await client.create(advancedDaemonSets('v1alpha1'), { metadata: ref, spec });
    const newer = await client.get(advancedDaemonSets('v1beta1'), ref);
    assert.equal(newer.apiVersion, 'apps.kruise.io/v1beta1');
    const older = await client.get(advancedDaemonSets('v1alpha1'), ref);
    assert.equal(older.apiVersion, 'apps.kruise.io/v1alpha1');
    assert.deepEqual(newer.spec, older.spec);
  });
};
