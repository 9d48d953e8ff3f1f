// The rings that we ship for Rancher Fleet, reconciled by the code of Fleet's controller.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { parseDocument } from 'yaml';
import { ask, findJudges } from './judges.ts';

interface Cluster {
  name: string;
  labels: Record<string, string>;
  /** The version in its BundleDeployment. */
  wanted?: string;
  /** What its agent said last. */
  applied?: string;
  ready: boolean;
}

let fleetYaml: string;
let program: string;

before(async () => {
  fleetYaml = await readFile(resolve(import.meta.dirname, '../../../deploy/multicluster/fleet/fleet.yaml'), 'utf8');
  program = (await findJudges()).fleet;
});

const cluster = (name: string, ring: string, reach = 'online'): Cluster => ({
  name,
  labels: { ring, 'edgeset.io/reach': reach },
  wanted: 'v1',
  applied: 'v1',
  ready: true,
});

const canaries = (): Cluster[] => ['c1', 'c2', 'c3'].map((name) => cluster(name, 'canary'));
const shops = (): Cluster[] => ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8'].map((name) => cluster(name, 'shops'));

/** The agent of a cluster that is online applies what it is given; `fails` says where the version isn't ready. */
const applied = (one: Cluster, fails: readonly string[]): Cluster => {
  const reach = one.labels['edgeset.io/reach'];
  if (one.wanted === undefined || one.wanted === one.applied || (reach !== 'online' && reach !== 'settling'))
    return one;
  return { ...one, applied: one.wanted, ready: !fails.includes(one.name) };
};

interface Options {
  fails?: readonly string[];
  rules?: string;
  version?: string;
}

/** Reconciles the bundle with this version, default v2, until nothing changes. Returns the order in which clusters were given it. */
const rollOut = async (clusters: Cluster[], { fails = [], rules = fleetYaml, version = 'v2' }: Options = {}) => {
  const order: string[][] = [];
  let present = clusters;
  for (;;) {
    const { clusters: after } = await ask<{ clusters: Cluster[] }>(program, {
      fleetYaml: rules,
      version,
      clusters: present,
    });
    const given = after.filter(({ wanted }, index) => wanted === version && present[index]?.wanted !== version);
    if (given.length > 0) order.push(given.map(({ name }) => name));
    const next = after.map((one) => applied(one, fails));
    if (JSON.stringify(next) === JSON.stringify(present)) return { order, clusters: next };
    present = next;
  }
};

const names = (clusters: readonly Cluster[]): string[] => clusters.map(({ name }) => name);

test('a version passes both rings, then goes to clusters that are away, settling or new, which keep their BundleDeployment', async () => {
  const others = [cluster('c-away', 'canary', 'away'), cluster('s-settling', 'shops', 'settling')];
  const fresh: Cluster = { name: 'unlabeled', labels: {}, ready: false };
  const { order, clusters } = await rollOut([...canaries(), ...shops(), ...others, fresh]);
  assert.deepEqual(order, [
    ['c1'],
    ['c2'],
    ['c3'],
    ['s1', 's2'],
    ['s3', 's4'],
    ['s5', 's6'],
    ['s7', 's8'],
    ['c-away', 's-settling', 'unlabeled'],
  ]);
  const away = clusters.find(({ name }) => name === 'c-away');
  assert.deepEqual([away?.wanted, away?.applied], ['v2', 'v1']);
});

test('a version that fails everywhere stops at its first cluster', async () => {
  const { order } = await rollOut([...canaries(), ...shops()], { fails: names([...canaries(), ...shops()]) });
  assert.deepEqual(order, [['c1']]);
});

test('one cluster of a ring that fails holds the next ring, although Fleet needs maxUnavailable of 1 or more', async () => {
  const clusters = [...canaries(), ...shops(), cluster('away', 'shops', 'away')];
  const { order } = await rollOut(clusters, { fails: ['c3'] });
  assert.deepEqual(order, [['c1'], ['c2'], ['c3']]);

  // Without the partition that repeats the ring, it passes with one failure.
  const rules = parseDocument(fleetYaml);
  rules.deleteIn(['rolloutStrategy', 'partitions', 1]);
  // Aliases need their anchor.
  const { order: lenient } = await rollOut(clusters, { fails: ['c3'], rules: JSON.stringify(rules.toJS()) });
  assert.deepEqual(lenient.flat().toSorted(), names(clusters).toSorted());
});

test('a suspect cluster that was given the version and never said that it is ready holds its ring', async () => {
  const suspect = { ...cluster('c2', 'canary', 'suspect'), wanted: 'v2', applied: 'v2', ready: false };
  const { order } = await rollOut([cluster('c1', 'canary'), suspect, ...shops()]);
  assert.deepEqual(order, []);

  // Its last word counts: Fleet doesn't know that it went away afterwards.
  const readyOnce = { ...suspect, ready: true };
  const { order: passed } = await rollOut([cluster('c1', 'canary'), readyOnce, ...shops()]);
  assert.deepEqual(passed[1], ['s1', 's2']);
});

test('a cluster that is away blocks its ring for ever if partitions do not select by edgeset.io/reach', async () => {
  const rules = parseDocument(fleetYaml).toJS() as {
    rolloutStrategy: { partitions: { clusterSelector: { matchExpressions?: { key: string }[] } }[] };
  };
  for (const { clusterSelector } of rules.rolloutStrategy.partitions)
    clusterSelector.matchExpressions &&= clusterSelector.matchExpressions.filter(({ key }) => key === 'ring');
  const clusters = [...canaries(), cluster('c4', 'canary', 'away'), ...shops()];
  const { order } = await rollOut(clusters, { rules: JSON.stringify(rules) });
  assert.deepEqual(order, [['c1'], ['c2'], ['c3'], ['c4']]);
});

test('a cluster that returns is given the version in its ring', async () => {
  const updated = [...canaries(), ...shops()].map((one) => ({ ...one, wanted: 'v2', applied: 'v2' }));
  const { order } = await rollOut([...updated, cluster('c4', 'canary')]);
  assert.deepEqual(order, [['c4']]);
});

test('undo goes ring by ring, or everywhere at once with maxUnavailablePartitions, first to what is not ready', async () => {
  const updated = canaries().map((one) => ({ ...one, wanted: 'v2', applied: 'v2' }));
  const failed = { ...cluster('s7', 'shops'), wanted: 'v2', applied: 'v2', ready: false };
  const clusters = [...updated, cluster('s1', 'shops'), failed];
  const { order } = await rollOut(clusters, { version: 'v1' });
  assert.deepEqual(order, [['c1'], ['c2'], ['c3'], ['s7']]);

  const rules = fleetYaml.replace('maxUnavailablePartitions: 0', 'maxUnavailablePartitions: 100%');
  const { order: atOnce } = await rollOut(clusters, { version: 'v1', rules });
  assert.ok(atOnce[0]?.includes('s7'));
});

test('a ring whose clusters are all away is empty, and passes', async () => {
  const { order } = await rollOut([cluster('c1', 'canary', 'away'), ...shops()]);
  assert.deepEqual(order[0], ['s1', 's2']);
});
