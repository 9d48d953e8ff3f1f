// A tenant who fills objects up to the limits of the API server, and the manager beside them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { alias, annotation, type DaemonRollout } from '../../src/words/index.ts';
import { eventually } from '../support/index.ts';
import { type RealCluster, startCluster } from './index.ts';
import { watchProbes } from './probes.ts';

/** All annotations of an object may have 256 KiB together. */
const BOMB_BYTES = 250 * 1024;
/** What a DaemonRollout may grow to because of one. */
const MOST_STATUS_BYTES = 16 * 1024;
/** What keeps a probe waiting as long as a kubelet does by default. */
const MOST_COMPUTED_MS = 1_000;

let cluster: RealCluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const fill = (text: string): string => text.repeat(Math.floor(BOMB_BYTES / text.length));
/** Numbers, durations, selectors, lists and JSON that only their end makes invalid, or nothing does. */
const bombs = [`${fill('9')}x`, `${fill('9h')}x`, fill('a,'), `a in (${fill('b,')}b)`, fill('[{"a":')];

const settings = [...new Set([...Object.values(annotation), ...Object.values(alias)])];

const daemonSet = (
  name: string,
  image: string,
  annotations: object = {},
  more: { pod?: object; env?: object[] } = {},
) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...annotations } },
  spec: {
    selector: { matchLabels: { app: name } },
    updateStrategy: { type: 'OnDelete' },
    template: {
      metadata: { labels: { app: name }, ...(more.pod && { annotations: more.pod }) },
      spec: { containers: [{ name: 'app', image, ...(more.env && { env: more.env }) }] },
    },
  },
});

test('annotations and objects of the largest size neither silence the manager nor hold rollouts of others', async (t) => {
  const { api } = cluster.plane;
  await cluster.addNodes(['n1', 'n2']);
  const [hostile, good] = [await cluster.createNamespace('hostile'), await cluster.createNamespace('good')];
  const sets = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  const manager = await cluster.startManager({ namespace: good, args: ['--leader-elect=false'] });
  const explained = async (cause: unknown): Promise<never> => {
    throw new Error(`${String(cause)}\n${(await manager.log()).slice(-20_000)}`, { cause });
  };
  const isUp = (): Promise<boolean> => fetch(`${manager.probes}/healthz`).then(({ ok }) => ok);
  await eventually('the manager answers', isUp, { everyMs: 20 }).catch(explained);
  const answersInTime = watchProbes(t, manager, MOST_COMPUTED_MS);
  await api.apply(`${sets(good)}/app`, daemonSet('app', 'app:v1'));

  const names = new Map<string, string>();
  for (const [i, key] of settings.entries()) {
    const name = `bomb-${i}`;
    names.set(name, key);
    await api.post(sets(hostile), daemonSet(name, 'app:v1', { [key]: bombs[i % bombs.length] }));
  }
  const state = fill('[{"a":');
  await api.post(
    sets(hostile),
    daemonSet('pods', 'app:v1', {}, { pod: { 'apps.kruise.io/inplace-update-state': state } }),
  );
  await api.post(
    sets(hostile),
    daemonSet('large', 'app:v1', {}, { env: [{ name: 'A', value: 'x'.repeat(1_000_000) }] }),
  );
  const annotations = { 'edgeset.io/time-zone': fill('Europe/') };
  await api.patch('/api/v1/nodes/n2', { metadata: { annotations } }, 'merge-patch');
  const values = Array.from({ length: 64 }, (_, index) => `${'v'.repeat(60)}${index}`);
  const matchExpressions = Array.from({ length: 16 }, (_, index) => ({ key: `k${index}`, operator: 'NotIn', values }));
  const stages = Array.from({ length: 20 }, (_, index) => ({
    name: `s${index}`,
    nodes: { selector: { matchExpressions } },
  }));
  await api.post(`/apis/edgeset.io/v1alpha1/namespaces/${hostile}/rolloutplans`, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { name: 'large' },
    spec: { stages },
  });
  await api.post(sets(hostile), daemonSet('planned', 'app:v1', { 'edgeset.io/rollout-plan': 'large' }));

  const isComplete = async (): Promise<boolean> => {
    const { metadata, status } = await api.get<DaemonSet>(`${sets(good)}/app`);
    return (
      status?.observedGeneration === metadata?.generation &&
      status?.updatedNumberScheduled === 2 &&
      status.numberAvailable === 2
    );
  };
  for (const image of ['app:v2', 'app:v3']) {
    await api.apply(`${sets(good)}/app`, daemonSet('app', image));
    await eventually(`${image} is rolled out`, isComplete, { withinMs: 90_000, everyMs: 100 }).catch(explained);
  }

  const rollouts = await eventually(
    'every DaemonSet has a status',
    async () => {
      const { items } = await api.get<{ items: DaemonRollout[] }>(
        `/apis/edgeset.io/v1alpha1/namespaces/${hostile}/daemonrollouts`,
      );
      return items.length === names.size + 3 && items.every(({ status }) => status?.conditions) && items;
    },
    { withinMs: 90_000, everyMs: 200 },
  ).catch(explained);
  let refused = 0;
  for (const { metadata, status } of rollouts) {
    assert.ok(
      JSON.stringify(status).length < MOST_STATUS_BYTES,
      `${metadata.name}: ${JSON.stringify(status).length} bytes`,
    );
    const stalled = status?.conditions?.find((each) => each.type === 'Stalled' && each.status === 'True');
    const key = names.get(metadata.name ?? '');
    if (!stalled || key === undefined) continue;
    refused += 1;
    assert.ok(stalled.message.includes(key), `${key}: ${stalled.message.slice(0, 500)}`);
  }
  const own = await api.get<{ items: DaemonSet[] }>(sets(hostile));
  for (const { metadata, status } of own.items)
    assert.ok(JSON.stringify(status).length < MOST_STATUS_BYTES, `the DaemonSet ${metadata?.name} has more`);
  assert.ok(refused >= 15, `${refused} values are refused`);
  await answersInTime();
  await manager.stop();
});
