import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets } from '../../kube/index.ts';
import { NAMESPACE, withFleet } from './testing/fleet.ts';

describe('the cache of native DaemonSets', () => {
  it(
    'spares the API server every list of them, and follows their changes',
    withFleet(async (fleet) => {
      const create = (name: string, app: string): Promise<unknown> =>
        fleet.client.create(daemonSets, {
          metadata: { name, namespace: NAMESPACE },
          spec: {
            selector: { matchLabels: { app } },
            template: {
              metadata: { labels: { app } },
              spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'app', image: 'app:v9' }] },
            },
          },
        });
      await create('other', 'other');
      await create('twin', 'app');
      await fleet.create();
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.match(condition.message, /native DaemonSet twin,/);
      await fleet.clock.advance(30_000);
      await fleet.client.delete(daemonSets, { namespace: NAMESPACE, name: 'twin' });
      await fleet.allRun('app:v1');
      for (const image of ['app:v2', 'app:v3']) {
        await fleet.setImage(image);
        await fleet.allRun(image);
        await fleet.clock.advance(20_000);
      }
      assert.equal(fleet.count('list', 'daemonsets'), 0);
    }),
  );
});
