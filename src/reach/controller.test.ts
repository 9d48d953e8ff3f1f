import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type KubeClient, KubeError } from '../kube/index.ts';
import type { ReachMetrics } from './controller.ts';
import { bundleDeployments, createFleetKind, fleetClusters } from './fleet.ts';
import { managedClusters, ocm } from './ocm.ts';
import { createHub } from './testing/hub.ts';

const MINUTE = 60_000;
const fleet = createFleetKind({ checkInMs: 15 * MINUTE, offlineAfterMs: 45 * MINUTE });

const count = () => {
  const changes: string[] = [];
  const metrics: ReachMetrics = { changed: (_kind, reach) => void changes.push(reach), failed: () => undefined };
  return { changes, metrics };
};

/** A hub with the ManagedCluster `shop`, which is online. */
const withShop = async (t: TestContext) => {
  const hub = await createHub();
  await hub.available('shop', 'True');
  await hub.renewLease('shop');
  const { changes, metrics } = count();
  let running = hub.start(ocm, metrics);
  t.after(() => running.stop());
  await hub.clock.advance(30_000);
  return {
    ...hub,
    changes,
    label: () => hub.label(managedClusters, 'shop'),
    /** The cluster is in contact for some minutes. */
    inContact: async (minutes: number): Promise<void> => {
      for (let at = 0; at < minutes; at += 1) {
        await hub.renewLease('shop');
        await hub.clock.advance(MINUTE);
      }
    },
    /** Its agent no longer renews the Lease, and the hub says so five minutes later. */
    goesAway: async (): Promise<void> => {
      await hub.clock.advance(5 * MINUTE);
      await hub.available('shop', 'Unknown');
      await hub.clock.advance(2 * MINUTE + 1_000);
    },
    restart: async (): Promise<void> => {
      await running.stop();
      running = hub.start(ocm, metrics);
      await hub.clock.advance(1_000);
    },
  };
};

describe('a ManagedCluster', () => {
  test('that never reported is away, and settles before it is online', async (t) => {
    const hub = await createHub();
    await hub.write(managedClusters, { metadata: { name: 'shop' } });
    const { changes, metrics } = count();
    const running = hub.start(ocm, metrics);
    t.after(() => running.stop());
    await hub.clock.advance(1_000);
    await hub.available('shop', 'True');
    await hub.clock.advance(30_000);
    assert.deepEqual(changes, ['away', 'settling', 'online']);
  });

  test('is away when it goes away without an update, and settles again when it is back', async (t) => {
    const shop = await withShop(t);
    await shop.give('shop', 'v1');
    await shop.inContact(10);
    await shop.goesAway();
    assert.equal(await shop.label(), 'away');
    await shop.renewLease('shop');
    await shop.available('shop', 'True');
    await shop.clock.advance(9_000);
    assert.equal(await shop.label(), 'settling');
    await shop.clock.advance(2_000);
    assert.equal(await shop.label(), 'online');
  });

  test('is a suspect when it goes away soon after an update, over restarts, until it gets another version', async (t) => {
    const shop = await withShop(t);
    await shop.inContact(10);
    await shop.give('shop', 'v2');
    await shop.inContact(2);
    await shop.goesAway();
    assert.equal(await shop.label(), 'suspect');
    const said = shop.lines.find((line) => line.includes('suspect'));
    assert.match(said ?? '', /cluster shop went away soon after ManifestWork till was changed: it is a suspect/);
    await shop.restart();
    await shop.clock.advance(600 * MINUTE);
    assert.equal(await shop.label(), 'suspect');
    const before = shop.changes.length;
    await shop.give('shop', 'v3');
    await shop.clock.advance(11_000);
    assert.equal(await shop.label(), 'away');
    assert.equal(shop.changes.length, before + 1);
  });

  test('is no suspect of an update that it cannot have received', async (t) => {
    const shop = await withShop(t);
    await shop.inContact(1);
    await shop.clock.advance(2 * MINUTE);
    await shop.give('shop', 'v2');
    await shop.goesAway();
    assert.equal(await shop.label(), 'away');
  });

  test('is a suspect of an update that had waited for it to come back', async (t) => {
    const shop = await withShop(t);
    await shop.goesAway();
    await shop.give('shop', 'v2');
    await shop.clock.advance(600 * MINUTE);
    assert.equal(await shop.label(), 'away');
    await shop.available('shop', 'True');
    await shop.inContact(1);
    assert.equal(await shop.label(), 'online');
    await shop.restart();
    await shop.goesAway();
    assert.equal(await shop.label(), 'suspect');
  });

  test('is such a suspect, too, if it was not gone for long enough to leave its ring', async (t) => {
    const shop = await withShop(t);
    await shop.inContact(30);
    await shop.clock.advance(5 * MINUTE);
    await shop.available('shop', 'Unknown');
    await shop.give('shop', 'v2');
    await shop.clock.advance(MINUTE);
    await shop.available('shop', 'True');
    await shop.inContact(5);
    assert.equal(await shop.label(), 'online');
    await shop.goesAway();
    assert.equal(await shop.label(), 'suspect');
  });

  test('that is a suspect holds its ring until it has settled', async (t) => {
    const shop = await withShop(t);
    await shop.give('shop', 'v2');
    await shop.inContact(2);
    await shop.goesAway();
    const before = shop.changes.length;
    await shop.available('shop', 'True');
    await shop.clock.advance(9_000);
    assert.equal(await shop.label(), 'suspect');
    await shop.clock.advance(2_000);
    assert.deepEqual(shop.changes.slice(before), ['online']);
  });

  test('is online and settles by the clock of the hub, if its own is ahead by an hour', async (t) => {
    const hub = await createHub();
    const { changes, metrics } = count();
    const ahead = (labels: Record<string, string>, name: string): Promise<void> => {
      const lastTransitionTime = new Date(hub.clock.now() + 60 * MINUTE).toISOString();
      const conditions = [{ type: 'ManagedClusterConditionAvailable', status: 'True', lastTransitionTime }];
      return hub.write(managedClusters, { metadata: { name, labels }, status: { conditions } });
    };
    await ahead({ 'edgeset.io/reach': 'online' }, 'a');
    await ahead({ 'edgeset.io/reach': 'away' }, 'b');
    const running = hub.start(ocm, metrics);
    t.after(() => running.stop());
    await hub.clock.advance(11_000);
    assert.deepEqual(changes, ['settling', 'online']);
  });

  test('keeps its place if the hub has lost what it said', async (t) => {
    const hub = await createHub();
    await hub.write(managedClusters, { metadata: { name: 'shop', labels: { 'edgeset.io/reach': 'online' } } });
    const running = hub.start(ocm);
    t.after(() => running.stop());
    await hub.clock.advance(60 * MINUTE);
    assert.equal(await hub.label(managedClusters, 'shop'), 'online');
    assert.equal(hub.lines.filter((line) => line.includes('no longer says whether it is available')).length, 1);
  });

  test('keeps a value that somebody else gave it, and gets its label back when that is removed', async (t) => {
    const shop = await withShop(t);
    const label = (value: string | null) =>
      shop.client.patch(
        managedClusters,
        { name: 'shop' },
        { metadata: { labels: { 'edgeset.io/reach': value } } },
        { type: 'merge' },
      );
    await label('manual');
    await shop.goesAway();
    assert.equal(await shop.label(), 'manual');
    await label(null);
    await shop.clock.advance(2 * MINUTE + 1_000);
    assert.equal(await shop.label(), 'away');
  });

  test('keeps its place in its ring while most of the clusters are gone, and loses it once fewer are', async (t) => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const hub = await createHub();
    for (const name of names) await hub.available(name, 'True');
    const { changes, metrics } = count();
    const running = hub.start(ocm, metrics);
    t.after(() => running.stop());
    await hub.clock.advance(30_000);
    const labels = () => Promise.all(names.map((name) => hub.label(managedClusters, name)));
    // One after the other, as their Leases run out.
    for (const name of names.slice(0, 3)) {
      await hub.available(name, 'Unknown');
      await hub.clock.advance(35_000);
    }
    await hub.clock.advance(60 * MINUTE);
    assert.deepEqual(await labels(), ['online', 'online', 'online', 'online', 'online']);
    assert.deepEqual(
      [...running.controller.verdicts()].map(({ cause }) => cause),
      ['many-at-once', 'many-at-once', 'many-at-once', 'available', 'available'],
    );
    assert.equal(hub.lines.filter((line) => line.includes('3 of 5 clusters in rings are gone')).length, 1);
    await hub.available('a', 'True');
    await hub.clock.advance(MINUTE);
    await hub.available('b', 'True');
    await hub.clock.advance(2 * MINUTE);
    assert.deepEqual(await labels(), ['online', 'online', 'away', 'online', 'online']);
    assert.deepEqual(changes.slice(names.length), ['away']);
  });

  test('settles once, also if nobody knows who wrote that', async (t) => {
    const hub = await createHub();
    const metadata = { namespace: 'fleet-default', name: 'van', labels: { 'edgeset.io/reach': 'settling' } };
    await hub.write(fleetClusters, { metadata }, 'restore');
    await hub.checkIn('van');
    const running = hub.start(fleet);
    t.after(() => running.stop());
    await hub.clock.advance(11_000);
    assert.equal(await hub.label(fleetClusters, 'van', 'fleet-default'), 'online');
  });

  test('is not written again by a process that starts', async (t) => {
    const shop = await withShop(t);
    const before = shop.changes.length;
    await shop.restart();
    await shop.clock.advance(10 * MINUTE);
    assert.equal(shop.changes.length, before);
  });

  test('keeps its label while the hub does not say what it was given, and counts for nothing', async (t) => {
    const hub = await createHub();
    await hub.available('shop', 'True');
    let isRefused = true;
    let failed = 0;
    const refused: KubeClient = {
      ...hub.client,
      list: (resource, options) =>
        isRefused && resource.plural === 'manifestworks'
          ? Promise.reject(new KubeError('Forbidden', 'no right'))
          : hub.client.list(resource, options),
    };
    const metrics: ReachMetrics = { changed: () => undefined, failed: () => void (failed += 1) };
    const running = hub.start(ocm, metrics, refused);
    t.after(() => running.stop());
    await hub.clock.advance(1_000);
    await hub.available('shop', 'Unknown');
    await hub.clock.advance(10 * MINUTE);
    assert.deepEqual([await hub.label(managedClusters, 'shop'), ...running.controller.verdicts()], ['online']);
    assert.ok(failed > 10);
    isRefused = false;
    await hub.clock.advance(4 * MINUTE);
    assert.equal(await hub.label(managedClusters, 'shop'), 'away');
  });

  test('is looked after again by a process that had lost the lease', async (t) => {
    const hub = await createHub();
    await hub.available('shop', 'True');
    const running = hub.start(ocm);
    await hub.clock.advance(1_000);
    await running.stop();
    const leading = new AbortController();
    t.after(() => leading.abort());
    running.controller.lead(leading.signal).catch(t.assert.ifError);
    await hub.clock.advance(1_000);
    assert.deepEqual([...running.controller.verdicts()], [{ reach: 'online', cause: 'available' }]);
  });

  test('that is one of many suspects is looked at less often', async (t) => {
    const hub = await createHub();
    for (let at = 0; at < 150; at += 1) {
      await hub.available(`shop-${at}`, 'Unknown');
      await hub.give(`shop-${at}`, 'v2');
    }
    let asked = 0;
    const counting: KubeClient = {
      ...hub.client,
      list(resource, options) {
        if (resource.plural === 'manifestworks') asked += 1;
        return hub.client.list(resource, options);
      },
    };
    const running = hub.start(ocm, undefined, counting);
    t.after(() => running.stop());
    await hub.clock.advance(10_000);
    assert.deepEqual([...running.controller.verdicts()][149], { reach: 'suspect', cause: 'soon-after-update' });
    const before = asked;
    await hub.clock.advance(60_000);
    assert.equal(asked - before, 4 * 150);
  });

  test('that comes back while it is looked at is not labelled by what was seen before', async (t) => {
    const hub = await createHub();
    await hub.write(managedClusters, { metadata: { name: 'shop', labels: { 'edgeset.io/reach': 'settling' } } });
    await hub.available('shop', 'Unknown');
    const { changes, metrics } = count();
    let asked = 0;
    const slow: KubeClient = {
      ...hub.client,
      async list(resource, options) {
        const found = await hub.client.list(resource, options);
        if (resource.plural !== 'manifestworks') return found;
        asked += 1;
        await hub.available('shop', 'True');
        return found;
      },
    };
    const running = hub.start(ocm, metrics, slow);
    t.after(() => running.stop());
    await hub.clock.advance(30_000);
    assert.equal(asked, 1);
    assert.deepEqual(changes, ['online']);
  });
});

describe('a Cluster of Rancher Fleet', () => {
  const withVan = async (t: TestContext) => {
    const hub = await createHub();
    await hub.checkIn('van');
    const running = hub.start(fleet);
    t.after(() => running.stop());
    await hub.clock.advance(30_000);
    return {
      ...hub,
      label: () => hub.label(fleetClusters, 'van', 'fleet-default'),
      deploy: (deploymentID: string) =>
        hub.write(bundleDeployments, { metadata: { namespace: 'cluster-van', name: 'till' }, spec: { deploymentID } }),
    };
  };

  test('is not taken out of its ring by its first label', async (t) => {
    const hub = await createHub();
    await hub.checkIn('van');
    const { changes, metrics } = count();
    const running = hub.start(fleet, metrics);
    t.after(() => running.stop());
    await hub.clock.advance(30_000);
    assert.deepEqual(changes, ['online']);
  });

  test('is online while it checks in, and away after three check-ins that it missed', async (t) => {
    const van = await withVan(t);
    assert.equal(await van.label(), 'online');
    for (let at = 0; at < 10; at += 1) {
      await van.checkIn('van');
      await van.clock.advance(15 * MINUTE);
      assert.equal(await van.label(), 'online');
    }
    await van.clock.advance(29 * MINUTE);
    assert.equal(await van.label(), 'online');
    await van.clock.advance(2 * MINUTE);
    assert.equal(await van.label(), 'away');
    await van.checkIn('van');
    await van.clock.advance(5_000);
    assert.equal(await van.label(), 'settling');
    await van.clock.advance(10_000);
    assert.equal(await van.label(), 'online');
  });

  test('is a suspect when it goes away soon after a deployment, until that is replaced', async (t) => {
    const van = await withVan(t);
    await van.checkIn('van');
    await van.clock.advance(5 * MINUTE);
    await van.deploy('v2');
    await van.clock.advance(60 * MINUTE);
    assert.equal(await van.label(), 'suspect');
    await van.deploy('v3');
    await van.clock.advance(11_000);
    assert.equal(await van.label(), 'away');
  });

  test('keeps its place in its ring through an outage of the hub, which all of them notice at their next check-in', async (t) => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const hub = await createHub();
    const checkIns = async (): Promise<void> => {
      for (const name of names) {
        await hub.checkIn(name);
        await hub.clock.advance(3 * MINUTE);
      }
    };
    await checkIns();
    const { changes, metrics } = count();
    const running = hub.start(fleet, metrics);
    t.after(() => running.stop());
    await hub.clock.advance(70 * MINUTE);
    await checkIns();
    assert.deepEqual(changes, ['online', 'online', 'online', 'online', 'online']);
  });
});
