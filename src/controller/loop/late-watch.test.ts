import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodes } from '../../kube/index.ts';
import { scenario } from '../testing/index.ts';

it(
  'a budget that was lowered is not exceeded behind a late watch, once a write was refused',
  scenario(async ({ settled, cluster, api, clock, deletes, mostDown }) => {
    await settled(3, '2', { 'edgeset.io/node-selector': 'go=yes' });
    cluster.setImage('v2');
    await clock.advance(10_000);
    const select = (name: string) => void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });
    api.silence('daemonsets');
    cluster.annotate({ 'apps.openyurt.io/max-unavailable': '1' });
    // The conditions change, and cannot be written.
    select('n1');
    await clock.advance(10_000);
    assert.equal(deletes().length, 1);
    for (const name of ['n2', 'n3']) select(name);
    await clock.advance(60_000);
    assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
    assert.equal(mostDown(), 1);
    assert.equal(api.sent('get', 'daemonsets').length, 2, 'once for the new leader, once for the refused write');
  }),
);
