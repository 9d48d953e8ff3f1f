import assert from 'node:assert/strict';
import { type Case, section } from '../kit/index.ts';

const onFailure = { 'edgeset.io/on-failure': 'rollback' };

const imageOf = async (c: Case): Promise<string | undefined> =>
  (await c.daemonSet()).spec?.template.spec?.containers[0]?.image;

/** `app:v2--crash-loop` fails and is taken back. */
const rolledBack = async (c: Case): Promise<string> => {
  await c.startRollout('app:v2--crash-loop', { annotations: onFailure });
  await c.until('the template is put back', async () => (await imageOf(c)) === 'app:v1');
  const { metadata } = await c.daemonSet();
  return metadata?.annotations?.['edgeset.io/rolled-back-from'] ?? '';
};

export const rollback = section('Rollback', (rule) => {
  rule('restores the template of the last complete revision, and repairs broken nodes', async (c) => {
    const hash = await rolledBack(c);
    const revisions = await c.api.get<{ items: { metadata: { labels: Record<string, string> }; revision: number }[] }>(
      `/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`,
    );
    const bad = revisions.items.find(({ revision }) => revision === 2);
    assert.equal(hash, bad?.metadata.labels['controller-revision-hash']);
    await c.untilComplete('app:v1');
    await c.untilWarning('RolledBack');
    assert.equal((await c.events('RolledBack')).length, 1);
    assert.equal(new Set(await c.updatedNodes()).size, 1, 'only the broken node was touched');
    const patches = (await c.calls()).filter(({ verb, resource }) => verb === 'patch' && resource === 'daemonsets');
    assert.equal(patches.length, 1, 'one patch');
  });

  rule('the same revision stays halted when set again, another one is rolled out', async (c) => {
    await rolledBack(c);
    await c.untilComplete('app:v1');
    const before = (await c.updates()).length;
    await c.setImage('app:v2--crash-loop');
    const halted = await c.untilCondition('Halted');
    assert.equal(halted.reason, 'RolledBack');
    await c.expectNoUpdatesFor(3);
    assert.equal((await c.updates()).length, before);
    assert.equal(await imageOf(c), 'app:v2--crash-loop', 'and is not fought over');
    await c.bringTo('app:v3');
  });

  rule('without a revision that was ever complete the rollout halts', async (c) => {
    await c.create({ image: 'app:v1--never-ready', annotations: onFailure });
    await c.until('its pods are there', async () => (await c.pods()).length === c.nodes.length);
    await c.until('the target is known', async () => (await c.status()).target);
    await c.setImage('app:v2--crash-loop');
    await c.untilCondition('Halted');
    await c.expectNoUpdatesFor(2);
    assert.equal(await imageOf(c), 'app:v2--crash-loop');
    assert.deepEqual(await c.events('RolledBack'), []);
  });

  rule('halt is the default', async (c) => {
    await c.startRollout('app:v2--crash-loop');
    await c.untilCondition('Halted');
    await c.expectNoUpdatesFor(2);
    assert.equal(await imageOf(c), 'app:v2--crash-loop');
  });
});
