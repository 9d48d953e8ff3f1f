// The rings that we ship for Argo CD, led through a progressive sync by the code of its ApplicationSet controller.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { findArgoRollout } from './argocd-rollout.ts';
import { ask } from './judges.ts';

interface Cluster {
  name: string;
  labels: Record<string, string>;
  revision: string;
  sync: 'Synced' | 'OutOfSync' | 'Unknown';
  health: 'Healthy' | 'Degraded' | 'Unknown';
  /** A sync has run since the last status of its Application. */
  operated: boolean;
}

interface ApplicationSet {
  spec: { strategy: { rollingSync: { steps: { maxUpdate?: number | string }[] } } };
  status?: { applicationStatus: { application: string; status: string }[] };
}

let shipped: ApplicationSet;
let program: string;

before(async () => {
  const file = resolve(import.meta.dirname, '../../../deploy/multicluster/argocd/applicationset.yaml');
  shipped = parse(await readFile(file, 'utf8')) as ApplicationSet;
  program = await findArgoRollout();
});

/** A cluster with version v1, while Git has v2. */
const cluster = (name: string, ring: string, reach?: string): Cluster => ({
  name,
  labels: { ring, ...(reach !== undefined && { 'edgeset.io/reach': reach }) },
  revision: 'v2',
  // An application of a cluster that can't be reached can't be compared.
  sync: isReached(reach) ? 'OutOfSync' : 'Unknown',
  health: isReached(reach) ? 'Healthy' : 'Unknown',
  operated: false,
});

const isReached = (reach: string | undefined): boolean => reach !== 'away' && reach !== 'suspect';

const withReach = (one: Cluster, reach: string): Cluster => ({
  ...cluster(one.name, one.labels.ring ?? '', reach),
  operated: one.operated,
});

/** What becomes of a sync that was started. */
const synced = (one: Cluster, fails: readonly string[]): Cluster => ({
  ...one,
  operated: true,
  ...(isReached(one.labels['edgeset.io/reach']) && {
    sync: 'Synced',
    health: fails.includes(one.name) ? 'Degraded' : 'Healthy',
  }),
});

interface Options {
  fails?: readonly string[];
  from?: ApplicationSet;
}

/** Reconciles until no sync starts any longer and no status changes. Returns the order of syncs. */
const rollOut = async (clusters: Cluster[], { fails = [], from = shipped }: Options = {}) => {
  const order: string[][] = [];
  let set = from;
  let present = clusters;
  let last: string | undefined;
  for (;;) {
    const { statuses, synced: started } = await ask<{
      statuses: { application: string; status: string }[];
      synced: Record<string, number>;
    }>(program, { applicationSet: set, clusters: present });
    const names = Object.keys(started).toSorted();
    const fresh = names.filter((name) => !present.find((one) => one.name === name)?.operated);
    if (fresh.length > 0) order.push(fresh);
    present = present.map((one) => (names.includes(one.name) ? synced(one, fails) : one));
    set = { ...set, status: { applicationStatus: statuses } };
    const now = JSON.stringify([present, statuses.map(({ application, status }) => [application, status])]);
    if (now === last) return { order, set, clusters: present, retries: started };
    last = now;
  }
};

const statusOf = (set: ApplicationSet, name: string): string | undefined =>
  set.status?.applicationStatus.find(({ application }) => application === `web-${name}`)?.status;

const canaries = () => [cluster('c1', 'canary', 'online'), cluster('c2', 'canary', 'online')];
const shops = () => ['s1', 's2', 's3', 's4'].map((name) => cluster(name, 'shops', 'online'));

test('a version passes both rings around a cluster that is away, which keeps waiting', async () => {
  const others = [cluster('s-away', 'shops', 'away'), cluster('s-unlabeled', 'shops')];
  const { order, set } = await rollOut([...canaries(), ...shops(), ...others]);
  assert.deepEqual(order, [['c1', 'c2'], ['s1'], ['s2'], ['s3'], ['s4'], ['s-unlabeled']]);
  assert.equal(statusOf(set, 's-away'), 'Waiting');
});

test('a cluster that returns is synced in its ring', async () => {
  const away = cluster('s-away', 'shops', 'away');
  const { set, clusters } = await rollOut([...canaries(), ...shops(), away]);
  const back = clusters.map((one) => (one.name === 's-away' ? withReach(one, 'online') : one));
  const { order } = await rollOut(back, { from: set });
  assert.deepEqual(order, [['s-away']]);
});

test('without maxUpdate 0 in the last step, a cluster that returns is never synced again', async () => {
  const from = structuredClone(shipped);
  delete from.spec.strategy.rollingSync.steps[2]?.maxUpdate;
  const { set, clusters, order } = await rollOut([...canaries(), cluster('s-away', 'shops', 'away')], { from });
  assert.deepEqual(order, [['c1', 'c2'], ['s-away']]);
  // Its sync has failed, and is over.
  const back = clusters.map((one) => (one.name === 's-away' ? withReach(one, 'online') : one));
  const { set: stuck, order: none } = await rollOut(back, { from: set });
  assert.deepEqual([none, statusOf(stuck, 's-away')], [[], 'Progressing']);
});

test('a Degraded cluster and one that goes away during its sync hold their step', async () => {
  const { order } = await rollOut([...canaries(), ...shops()], { fails: ['c2'] });
  assert.deepEqual(order, [['c1', 'c2']]);

  const [c1, c2] = canaries();
  assert.ok(c1 && c2);
  const { order: held } = await rollOut([c1, withReach(c2, 'suspect'), ...shops()]);
  assert.deepEqual(held, [['c1', 'c2']]);
});

test('a cluster that is away blocks its step for ever if steps do not select by edgeset.io/reach', async () => {
  const from = structuredClone(shipped);
  for (const step of from.spec.strategy.rollingSync.steps as { matchExpressions: { key: string }[] }[])
    step.matchExpressions = step.matchExpressions.filter(({ key }) => key === 'ring');
  from.spec.strategy.rollingSync.steps.pop();
  const { order } = await rollOut([...canaries(), cluster('c3', 'canary', 'away'), ...shops()], { from });
  assert.deepEqual(order, [['c1', 'c2', 'c3']]);
});

test('the syncs that it starts retry without end', async () => {
  const { synced: started } = await ask<{ synced: Record<string, number> }>(program, {
    applicationSet: { ...shipped, status: { applicationStatus: [] } },
    clusters: canaries(),
  });
  assert.deepEqual(started, { c1: -1, c2: -1 });
});
