import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nativeKind } from '../../kinds/native/index.ts';
import { nodes } from '../../kube/index.ts';
import { scenario } from '../testing/scenario.ts';
import { createRefusals } from './refusals.ts';

const never = new AbortController().signal;

/** A version of a DaemonSet. */
const version = (resourceVersion: number, generation: number, budget: string, observed = generation) => {
  const view = nativeKind.toView({
    metadata: {
      name: 'app',
      uid: 'app',
      generation,
      resourceVersion: String(resourceVersion),
      annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': budget },
    },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels: { app: 'app' } }, spec: { containers: [] } },
    },
    status: {
      observedGeneration: observed,
      currentNumberScheduled: 0,
      desiredNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
    },
  });
  assert.ok(view);
  return view;
};

describe('a refused write', () => {
  const setUp = () => {
    const parts = {
      delivered: version(10, 1, '100%'),
      present: version(10, 1, '100%') as ReturnType<typeof version> | undefined,
      fails: false,
      reads: 0,
      awaited: [] as string[],
    };
    const refusals = createRefusals({
      view: () => parts.delivered,
      read: async () => {
        parts.reads += 1;
        if (parts.fails) throw new Error('no response');
        return parts.present;
      },
      awaits: (resourceVersion) => void parts.awaited.push(resourceVersion),
    });
    return { parts, ...refusals, awaitsWatch: () => refusals.awaitsWatch(never) };
  };

  it('has the DaemonSet read once, and the watch awaited if it asks for something else', async () => {
    const { parts, refused, awaitsWatch } = setUp();
    assert.equal(await awaitsWatch(), false);
    assert.equal(parts.reads, 0);
    parts.present = version(30, 1, '10%');
    refused();
    assert.equal(await awaitsWatch(), true);
    parts.delivered = version(20, 1, '50%');
    assert.equal(await awaitsWatch(), true, 'that is over, too');
    assert.equal(parts.reads, 1);
    assert.deepEqual(parts.awaited, ['30']);
    parts.delivered = version(30, 1, '10%');
    assert.equal(await awaitsWatch(), false);
    assert.deepEqual(parts.awaited, ['30'], 'it has arrived');
    assert.equal(parts.reads, 1);
  });

  it('holds nothing where only the status has changed, or the watch was faster', async () => {
    const { parts, refused, awaitsWatch } = setUp();
    parts.present = version(12, 1, '100%', 0);
    refused();
    assert.equal(await awaitsWatch(), false);
    parts.present = version(13, 2, '10%');
    parts.delivered = version(14, 3, '20%');
    refused();
    assert.equal(await awaitsWatch(), false);
    assert.equal(parts.reads, 2);
  });

  it('is not forgotten while it cannot be looked into, nor while another one is', async () => {
    const { parts, refused, mustRead, awaitsWatch } = setUp();
    refused();
    parts.fails = true;
    await assert.rejects(awaitsWatch());
    assert.equal(mustRead(), true);
    parts.fails = false;
    parts.present = undefined;
    assert.equal(await awaitsWatch(), true, 'it is gone: the watch says so');
    parts.present = version(30, 2, '10%');
    assert.equal(await awaitsWatch(), true);
    refused();
    assert.equal(mustRead(), false, 'the watch comes first');
    parts.delivered = version(30, 2, '10%');
    assert.equal(mustRead(), true);
    assert.equal(await awaitsWatch(), false);
    assert.equal(mustRead(), false);
  });
});

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
    await clock.advance(10_000);
    assert.equal(deletes().length, 1);
    assert.equal(api.sent('get', 'daemonsets').length, 2, 'once for the new leader, once for the refused write');
    api.silence('daemonsets', false);
    await clock.advance(60_000);
    assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
    assert.equal(mostDown(), 1);
  }),
);
