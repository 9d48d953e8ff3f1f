import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { DaemonRollout, DaemonRolloutStatus } from '../../../rollout/index.ts';
import { createFakeCluster, observed, ROLLOUTS } from '../testing/fake-cluster.ts';
import { createStatusView } from './view.ts';

const nodes: NonNullable<DaemonRolloutStatus['nodes']> = {
  eligible: 12,
  online: 10,
  offlineOutdated: 2,
  updated: 4,
  updating: 1,
  outdated: 2,
  broken: 1,
  offline: 2,
  settling: 0,
  held: 1,
  failed: 1,
  missing: 0,
};
const status: DaemonRolloutStatus = {
  summary: 'Rolling out',
  target: { revision: 'web-6c46', hash: '6c46', number: 2 },
  nodes,
  budget: { maxUnavailable: '30%', nodes: 3, inUse: 2, inFlight: 2 },
  breaker: { failures: 1, suspects: 0, threshold: 3 },
};

describe('status', () => {
  const world = createFakeCluster();
  const run = (...args: string[]): Promise<string> => world.output('status', ...args);

  it("prints a table in kubectl's format", async () => {
    world.rollout(status);
    assert.equal(
      await run(),
      [
        'NAME   STATUS        TARGET   UPDATED   UPDATING   OFFLINE   FAILED   BUDGET   LEFT',
        'web    Rolling out   6c46     4/10      1          2         1        2/3',
        '',
      ].join('\n'),
    );
    const [header = '', row = ''] = (await run('-A', '-o', 'wide')).split('\n');
    assert.match(header, /^NAMESPACE {3}NAME .* HELD {3}MISSING {3}SUSPECTS {3}MAX-UNAVAILABLE {3}MAX-SURGE$/);
    assert.match(row, /^shop {8}web .* 30%$/);
    assert.equal(row.indexOf('30%'), header.indexOf('MAX-UNAVAILABLE'));
  });

  it('shows a rollout without a status', async () => {
    world.rollout(undefined);
    assert.match(await run(), /^web +Not started +0\/0 +0 +0 +0 +0\/0$/m);
  });

  it('prints data for scripts: one object by name, otherwise a list, without managed fields', async () => {
    world.rollout(status);
    const one = JSON.parse(await run('ds/web', '-o', 'json')) as DaemonRollout;
    assert.equal(one.kind, 'DaemonRollout');
    assert.deepEqual(one.status, status);
    assert.equal(one.metadata.managedFields, undefined);
    const list = parse(await run('-o', 'yaml')) as { kind: string; items: DaemonRollout[] };
    assert.deepEqual([list.kind, list.items.length, list.items[0]?.metadata.name], ['List', 1, 'web']);
    assert.equal(await run('-o', 'name'), 'daemonrollout.edgeset.io/web\n');
  });

  it('selects on the API server', async () => {
    world.rollout(status);
    await run('-l', 'team=a', 'web');
    const [request] = world.api.requests;
    assert.deepEqual(
      [request?.path, request?.query.get('labelSelector'), request?.query.get('fieldSelector')],
      [ROLLOUTS, 'team=a', 'metadata.name=web'],
    );
    const other = await world.run(['status', '-n', 'other']);
    assert.equal(world.api.requests.at(-1)?.path, ROLLOUTS.replace('shop', 'other'));
    assert.deepEqual(other, { code: 0, stdout: '', stderr: 'No rollouts in namespace other.\n' });
    assert.equal((await world.run(['status', '-n', 'other', '-o', 'json'])).stdout.includes('"items": []'), true);
  });

  it('prints the time left in its largest unit', () => {
    const now = Date.parse('2030-01-01T00:00:00Z');
    const view = createStatusView(undefined, { namespaces: false, single: false });
    const left = (estimatedFinishAt: string): string => {
      const rollout = { metadata: { name: 'web' }, status: { estimatedFinishAt } } as DaemonRollout;
      return view.one(rollout, now).trim().split(/ +/).at(-1) ?? '';
    };
    assert.equal(left('2030-01-01T00:01:30Z'), '90s');
    assert.equal(left('2030-01-01T00:10:00Z'), '10m');
    assert.equal(left('2030-01-01T05:00:00Z'), '5h');
    assert.equal(left('2029-01-01T00:00:00Z'), '0/0', 'nothing for a time that is past');
  });

  it('shows no budget if owners decide', async () => {
    world.rollout({
      ...observed,
      strategy: 'ota',
      summary: 'Waiting for 2 owners',
      budget: { maxUnavailable: '10%', nodes: 0, inUse: 0, inFlight: 0 },
    });
    assert.match(await run('web'), /^web +Waiting for 2 owners +new .* - *$/m);
  });
});
