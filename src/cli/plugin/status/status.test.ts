import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { DaemonRollout, DaemonRolloutStatus } from '../../../words/index.ts';
import { createFakeCluster, observed, ROLLOUTS, SETS } from '../testing/fake-cluster.ts';
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
  beforeEach(() => world.daemonSet());
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
    assert.match(
      header,
      /^NAMESPACE {3}NAME .* HELD {3}MISSING {3}SUSPECTS {3}MAX-UNAVAILABLE {3}MAX-SURGE {3}LAST-SEEN$/,
    );
    assert.match(row, /^shop {8}web .* 30%$/);
    assert.equal(row.indexOf('30%'), header.indexOf('MAX-UNAVAILABLE'));
  });

  it('knows a rollout by its owner, whatever other DaemonSet has the name of it', async () => {
    const name = 'web.apps.kruise.io';
    world.daemonSet({}, { name, uid: 'uid-native' });
    world.advanced();
    world.rollout({ ...status, ...observed }, { name });
    world.api.remove(SETS, 'web');
    assert.match(
      (await world.run(['status'])).stdout,
      /^NAME .*\nads\/web +Rolling out .*\nweb\.apps\.kruise\.io +Invalid policy .*\n$/,
    );
    const { stdout, stderr } = await world.run(['status', `ds/${name}`]);
    assert.match(stdout, /^NAME .*\nweb\.apps\.kruise\.io +Invalid policy .*\n$/);
    assert.match(
      stderr,
      /^Note: shop\/web\.apps\.kruise\.io is stalled: metadata\.name .*create it again under another name\.$/m,
    );
    assert.match(await run('ads/web'), /^NAME .*\nads\/web +Rolling out .*\n$/);
  });

  it('says why a rollout that is asked for is stalled', async () => {
    const message = 'The API server refuses new pods: exceeded quota.';
    const condition = { type: 'Stalled', status: 'True', reason: 'FailedCreate', message, lastTransitionTime: '' };
    world.rollout({ ...observed, summary: 'Pods are refused', conditions: [condition] });
    const { stdout, stderr } = await world.run(['status', 'web']);
    assert.match(stdout, /Pods are refused/);
    assert.match(stderr, /^Note: shop\/web is stalled: The API server refuses new pods: exceeded quota\.$/m);
    assert.doesNotMatch((await world.run(['status'])).stderr, /exceeded quota/);
  });

  it('shows with -o wide the strategy, and how long ago the rollout changed last', async () => {
    const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    const condition = { type: 'Ready', status: 'False', reason: 'x', message: '', lastTransitionTime: ago(50) };
    world.rollout({ ...status, strategy: 'ota', startedAt: ago(90), conditions: [condition] });
    const cell = async (title: string): Promise<string> => {
      const [header = '', row = ''] = (await run('-o', 'wide')).split('\n');
      return row.slice(header.indexOf(title)).split(' ', 1)[0] ?? '';
    };
    assert.deepEqual([await cell('STRATEGY'), await cell('LAST-CHANGE')], ['ota', '50m']);
    world.rollout(status);
    assert.equal(await cell('LAST-CHANGE'), '');
  });

  it('shows a rollout without a status', async () => {
    world.rollout(undefined);
    assert.match(await run(), /^web +Not started +0\/0 +0 +0 +0 +0\/0$/m);
  });

  it('prints data for scripts: one object by name, otherwise a list, without managed fields', async () => {
    world.rollout(status);
    const one = JSON.parse(await run('ds/web', '-o', 'json')) as DaemonRollout;
    assert.equal(one.kind, 'DaemonRollout');
    assert.deepEqual(one.status, { daemonSetGeneration: 2, ...status });
    assert.equal(one.metadata.managedFields, undefined);
    const list = parse(await run('-o', 'yaml')) as { kind: string; items: DaemonRollout[] };
    assert.deepEqual([list.kind, list.items.length, list.items[0]?.metadata.name], ['List', 1, 'web']);
    assert.equal(await run('-o', 'name'), 'daemonrollout.edgeset.io/web\n');
  });

  it('shows those that are named, and an error for those that are missing', async () => {
    for (const name of ['web', 'db', 'other']) {
      world.daemonSet({}, { name });
      world.rollout(status, { name });
    }
    const shown = (text: string): string[] => [...text.matchAll(/^(\S+) +Rolling out/gm)].map(([, name = '']) => name);
    assert.deepEqual(shown(await run('web', 'ds/db')), ['db', 'web']);
    assert.deepEqual(shown(await run('ds', 'web', 'db')), ['db', 'web'], 'TYPE NAME..., as in kubectl');
    assert.deepEqual(shown(await run('web', 'ds/web')), ['web']);
    const { items } = JSON.parse(await run('web', 'db', '-o', 'json')) as { items: object[] };
    assert.equal(items.length, 2);
    const partly = await world.run(['status', 'web', 'ads/db', 'none']);
    assert.deepEqual([partly.code, shown(partly.stdout)], [1, ['web']]);
    assert.equal(
      partly.stderr,
      'kubectl edgeset: there are no rollouts of ads/db, none in namespace shop: "kubectl edgeset explain NAME -n shop" says why\n',
    );
    const { code, stderr } = await world.run(['status', 'ds', 'ds/web']);
    assert.equal(code, 2);
    assert.match(stderr, /"ds\/ds\/web": is not the name of a DaemonSet/);
  });

  it('selects on the API server', async () => {
    world.rollout(status);
    await run('-l', 'team=a', 'web');
    const request = world.api.requests.find(({ path }) => path === ROLLOUTS);
    assert.deepEqual(
      [request?.path, request?.query.get('labelSelector'), request?.query.get('fieldSelector')],
      [ROLLOUTS, 'team=a', 'metadata.name=web'],
    );
    const other = await world.run(['status', '-n', 'other']);
    assert.ok(world.api.requests.some(({ path }) => path === ROLLOUTS.replace('shop', 'other')));
    assert.deepEqual(other, {
      code: 0,
      stdout: '',
      stderr:
        'No rollouts in namespace other.\nTo roll out a DaemonSet with edgeset, add these two lines of YAML to it:\n' +
        '  metadata: {annotations: {apps.openyurt.io/update-strategy: auto}}\n  spec: {updateStrategy: {type: OnDelete}}\n',
    });
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

  it('names the offline nodes that still need the target, and for how long they have been away', () => {
    const now = Date.parse('2030-01-05T00:00:00Z');
    const view = createStatusView('wide', { namespaces: false, single: false });
    const lastSeen = (count: number): string => {
      const away = ['2030-01-01', '2030-01-04', '2030-01-04'].map((day, i) => ({
        node: `n${i}`,
        lastSeen: `${day}T00:00:00Z`,
      }));
      const causes = [
        { phase: 'offline' as const, cause: 'offline-outdated', count },
        { phase: 'offline' as const, cause: 'offline-current', count: 3 },
      ];
      const rollout = {
        metadata: { name: 'web' },
        status: { stragglers: away.slice(0, count), causes },
      } as DaemonRollout;
      return view.one(rollout, now).trim().split(/ {3,}/).at(-1) ?? '';
    };
    assert.equal(lastSeen(1), 'n0 4d');
    assert.equal(lastSeen(2), 'n0 4d, n1 24h');
    assert.equal(lastSeen(12), 'n0 4d, n1 24h, 10 more');
    const stale = { stragglers: [{ node: 'n9', lastSeen: '1970-01-01T00:00:00Z' }] };
    assert.match(view.one({ metadata: { name: 'web' }, status: stale } as DaemonRollout, now), / n9 never$/m);
  });

  it('shows no more slots in use than the budget has', async () => {
    world.rollout({ ...status, budget: { maxUnavailable: '1', nodes: 1, inUse: 3, inFlight: 0 } });
    assert.match(await run('web'), / 1\/1$/m);
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

describe('a status that is not about the present', () => {
  const world = createFakeCluster();
  const LEASES = '/apis/coordination.k8s.io/v1/namespaces/edgeset-system/leases';
  const lease = (spec: object, metadata: object = {}): void =>
    world.api.put(LEASES, { metadata: { name: 'edgeset-manager', namespace: 'edgeset-system', ...metadata }, spec });

  for (const [what, prepare, row, note] of [
    [
      'the template has changed since',
      () => {
        world.daemonSet({}, { generation: 3 });
        world.rollout(status);
      },
      /^web +Waiting for the manager +- +- .*-$/m,
      /^Note: the manager has not observed the latest change of shop\/web: /,
    ],
    [
      'the annotation is gone, and no manager has taken the status back',
      () => {
        world.daemonSet();
        world.rollout({
          ...status,
          conditions: [{ type: 'Ready', status: 'True', reason: 'X', message: '', lastTransitionTime: '' }],
        });
        world.api.put(SETS, { metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', generation: 2 } });
      },
      /^web +Waiting for the manager/m,
      /latest change of shop\/web/,
    ],
    [
      'no manager has recorded a rollout',
      () => world.daemonSet(),
      /^web +Not served +- /m,
      /^Note: shop\/web opted in, but no manager has recorded a rollout: check that edgeset-manager is running/,
    ],
    [
      'the DaemonSet was deleted with --cascade=orphan',
      () => world.rollout({ ...status, summary: 'Waiting for 2 owners' }, { ownerReferences: [] }),
      /^web +Orphaned +- /m,
      /^Note: no DaemonSet owns the DaemonRollout shop\/web: it was deleted with --cascade=orphan/,
    ],
    [
      'the DaemonSet is another one of the same name',
      () => {
        world.daemonSet({}, { uid: 'uid-new' });
        world.rollout(status);
      },
      /^web +DaemonSet deleted +- /m,
      /^Note: the DaemonSet of shop\/web was deleted/,
    ],
  ] as const)
    it(`is not shown when ${what}`, async () => {
      prepare();
      for (const args of [[], ['web']]) {
        const { code, stdout, stderr } = await world.run(['status', ...args]);
        assert.equal(code, 0);
        assert.match(stdout, row);
        assert.doesNotMatch(stdout, /Complete|4\/10|owners/);
        assert.match(stderr, note);
      }
    });

  it('is shown as it is to programs, with the note on stderr', async () => {
    world.daemonSet({}, { generation: 3 });
    world.rollout(status);
    const { stdout, stderr } = await world.run(['status', 'web', '-o', 'json']);
    assert.equal((JSON.parse(stdout) as DaemonRollout).status?.summary, 'Rolling out');
    assert.match(stderr, /latest change of shop\/web/);
  });

  it('is not doubted on account of DaemonSets that the user may not read', async () => {
    world.rollout(status);
    world.api.fault = (_, path) => (path.includes('/daemonsets') ? { status: 403, reason: 'Forbidden' } : undefined);
    assert.match(await world.output('status'), /^web +Rolling out/m);
  });

  it('counts no DaemonSet that did not opt in, or that another selector may hide', async () => {
    world.daemonSet({ 'apps.openyurt.io/update-strategy': '' }, { annotations: {} });
    assert.match((await world.run(['status'])).stderr, /^No rollouts/);
    world.daemonSet();
    assert.match((await world.run(['status', '-l', 'team=a'])).stderr, /^No rollouts/);
  });

  it('comes with a note that no manager is running, if the Lease says so', async () => {
    world.daemonSet();
    world.rollout(status);
    const noteOf = async (spec: object): Promise<string> => {
      lease(spec);
      return (await world.run(['status'])).stderr;
    };
    const now = new Date().toISOString().replace('Z', '000Z');
    assert.equal(await noteOf({ holderIdentity: 'm1', renewTime: now, leaseDurationSeconds: 15 }), '');
    assert.match(
      await noteOf({ holderIdentity: '', renewTime: now }),
      /^Note: No manager holds the Lease edgeset-system\/edgeset-manager: it was stopped, unless one runs with --leader-elect=false\. /,
    );
    const old = { holderIdentity: 'm1', renewTime: '2020-01-01T00:00:00.000000Z', leaseDurationSeconds: 15 };
    assert.match(
      await noteOf(old),
      /^Note: The manager's Lease .* was last renewed \d+d ago: it is not running, or has no connection, unless one runs with --leader-elect=false\./,
    );
    const managed = (time: string) => ({ managedFields: [{ time }] });
    const wroteStatus = (time: string): void =>
      world.rollout(status, { managedFields: [{ time: '2021-01-01T00:00:00Z' }, { time, subresource: 'status' }] });
    lease({ ...old, holderIdentity: '', leaseDurationSeconds: 1 }, managed('2020-01-01T00:00:10Z'));
    wroteStatus('2020-01-01T00:00:10Z');
    assert.match((await world.run(['status'])).stderr, /was stopped/, 'by the last act of the one that released it');
    wroteStatus('2020-01-01T00:01:00Z');
    assert.equal((await world.run(['status'])).stderr, '', 'a manager without a Lease wrote a status later');
    world.api.fault = (_, path) => (path.startsWith(LEASES) ? { status: 403, reason: 'Forbidden' } : undefined);
    assert.equal((await world.run(['status'])).stderr, '', 'it says nothing that it cannot know');
  });
});
