import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../../../support/index.ts';
import { isFailed, isSucceeded } from '../application.ts';
import { canary, type Fixture, first, second, shops, within } from '../fixture.ts';

/** What a ring does when the clusters of all rings are online. */
export const describeRings = (fixture: () => Fixture): void => {
  it('a good release passes ring by ring', async () => {
    const app = await fixture().opened();
    await app.release('v2');
    await eventually(
      'all shops are to have v2',
      async () => {
        const ofShops = [await app.wanted(first), await app.wanted(second)];
        const ofCanary = await app.work(canary);
        if (ofShops.includes('v2')) assert.ok(ofCanary && isSucceeded(ofCanary), 'the canary has succeeded before');
        return ofShops.every((release) => release === 'v2');
      },
      within,
    );
    await app.runs('v2', ...shops);
    await app.remove();
  });

  it('a release that halts on the nodes of the canary stays there, and the release before repairs it', async () => {
    const { opened, engineWorks } = fixture();
    const app = await opened();
    await app.release('v2--crash-loop');
    await app.until('it has failed', canary, isFailed);
    await engineWorks(...shops);
    assert.deepEqual([await app.wanted(first), await app.wanted(second)], ['v1', 'v1']);
    await app.release('v1');
    await app.runs('v1', ...shops);
    for (const name of shops) await app.until('success is reported', name, isSucceeded);
    await app.remove();
  });

  it('a cluster that is held at a partition of its own counts as done', async () => {
    const { opened, member } = fixture();
    const app = await opened();
    const path = `/apis/apps/v1/namespaces/${app.name}/daemonsets/${app.name}`;
    await member(canary).api.patch(path, { metadata: { annotations: { 'edgeset.io/partition': '1' } } });
    await app.release('v2');
    await app.runs('v2', first, second);
    assert.deepEqual(await app.running(canary), ['v1', 'v2']);
    await app.remove();
  });

  it('clusters whose owners decide count as done before they have decided', async () => {
    const app = await fixture().opened();
    await app.release('v2', ({ spec }) => {
      for (const { metadata } of spec.manifestWorkTemplate.workload.manifests)
        if (metadata.annotations) metadata.annotations['apps.openyurt.io/update-strategy'] = 'ota';
    });
    for (const name of shops) {
      await app.until('it has v2', name, (work) => app.releaseOf(work) === 'v2' && isSucceeded(work));
      assert.deepEqual(await app.running(name), ['v1']);
    }
    await app.remove();
  });
};
