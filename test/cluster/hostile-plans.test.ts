// Plans of a tenant who wants the manager of all to stand still, on a real API server.

import { after, before, test } from 'node:test';
import type { DaemonRollout, RolloutPlanSpec } from '../../src/words/index.ts';
import type { Manager } from '../conformance/index.ts';
import { planObject, plansPath } from '../conformance/kit/plans.ts';
import { eventually } from '../support/index.ts';
import { autoDaemonSet } from './auto-daemon-set.ts';
import { type RealCluster, startCluster } from './index.ts';
import { watchProbes } from './probes.ts';

/** One in each zone. More pods would cost kube-controller-manager and kwok more time than plans cost the manager. */
const NODES = 20;
const ZONES = 20;
const AT_ONCE = 10;

let cluster: RealCluster;
let manager: Manager;
let good: string;
let hostile: string;
let image = 1;

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

const inParallel = async (all: readonly string[], work: (name: string, index: number) => Promise<unknown>) => {
  const rest = all.entries();
  const worker = async (): Promise<void> => {
    for (const [index, name] of rest) await work(name, index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

const setPlan = (name: string, spec: RolloutPlanSpec): Promise<unknown> =>
  cluster.plane.api.apply(`${plansPath(hostile)}/${name}`, planObject(name, spec));

const setDaemonSet = (namespace: string, name: string, more: Record<string, string> = {}, nodeSelector = {}) =>
  cluster.plane.api.apply(
    `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`,
    autoDaemonSet(name, `app:v${image}`, {
      annotations: { 'apps.openyurt.io/max-unavailable': '100%', 'edgeset.io/settle-seconds': '0', ...more },
      nodeSelector,
    }),
  );

const statusOf = async (namespace: string, name: string): Promise<NonNullable<DaemonRollout['status']>> => {
  const path = `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/${name}`;
  return (await cluster.plane.api.get<DaemonRollout>(path)).status ?? {};
};
const says = async (name: string): Promise<string> =>
  (await statusOf(hostile, name).catch(() => undefined))?.conditions?.find(({ type }) => type === 'Ready')?.message ??
  '';

/** The neighbour's rollout begins now, and is complete at the end. */
const neighbourRollsOut = async (): Promise<void> => {
  image += 1;
  await setDaemonSet(good, 'app');
  await eventually(
    `app:v${image} is rolled out`,
    async () => {
      const { items } = await cluster.plane.api.get<{ items: { spec: { containers: { image: string }[] } }[] }>(
        `/api/v1/namespaces/${good}/pods`,
      );
      const isDone = items.every(({ spec }) => spec.containers[0]?.image === `app:v${image}`);
      return isDone && items.length === NODES && (await statusOf(good, 'app')).nodes?.updated === NODES;
    },
    { withinMs: 60_000, everyMs: 200 },
  );
};

before(async () => {
  cluster = await startCluster();
  for (const [index, name] of names('n', NODES).entries())
    await cluster.addNodes([name], { annotations: { 'edgeset.io/time-zone': zone(index) } });
  [hostile, good] = [await cluster.createNamespace('hostile'), await cluster.createNamespace('good')];
  manager = await cluster.startManager({ namespace: good, args: ['--leader-elect=false'] });
  await eventually(
    'the manager answers',
    () =>
      fetch(`${manager.probes}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { everyMs: 100 },
  );
  await setDaemonSet(good, 'app');
});
after(async () => {
  await manager?.stop();
  await cluster?.stop();
});

const IANA = Intl.supportedValuesOf('timeZone');
/** One of this many zones all over the world. */
const zone = (index: number): string => IANA[Math.floor(((index % ZONES) * IANA.length) / ZONES)] ?? 'UTC';

test('200 DaemonSets that wait for each other, and edits of them, delay neither probes nor neighbours', async (t) => {
  const ring = names('ring', 200);
  const waitFor =
    (...offsets: number[]) =>
    (_: string, index: number) =>
      setPlan(`ring-${index}`, { after: offsets.map((by) => ({ name: `ring-${(index + by) % ring.length}` })) });
  const answersInTime = watchProbes(t, manager);
  await inParallel(ring, waitFor(1));
  await inParallel(ring, (name) => setDaemonSet(hostile, name, { 'edgeset.io/rollout-plan': name }, { none: 'such' }));
  await eventually(
    'a member says what is wrong',
    async () => /200 DaemonSets in all.*is a cycle/.test(await says('ring-7')),
    { withinMs: 120_000, everyMs: 500 },
  );
  // Denser, and other cycles with each edit.
  await Promise.all([neighbourRollsOut(), inParallel(ring.slice(0, 60), waitFor(1, 2, 3, 5, 8, 13, 21, 34, 55, 89))]);
  await answersInTime();
});

test('50 freezes and 20 windows in 20 zones, for 50 DaemonSets, delay neither probes nor neighbours', async (t) => {
  const frozen = names('frozen', 50);
  const day = (at: number): string => new Date(Date.now() + at * 86_400_000).toISOString();
  const plan = (shift: number): RolloutPlanSpec => ({
    windows: Array.from({ length: 20 }, (_, index) => ({
      from: `${String(index).padStart(2, '0')}:${String(shift).padStart(2, '0')}`,
      to: `${String(index).padStart(2, '0')}:59`,
      timeZone: index % 2 === 0 ? 'node' : zone(index),
    })),
    // One after the other for a year, so that each is looked at.
    freezes: Array.from({ length: 50 }, (_, index) => ({
      from: day(index * 7 - 1),
      to: day(index * 7 + 6),
      reason: 'x',
    })),
  });
  const answersInTime = watchProbes(t, manager);
  await setPlan('frozen', plan(0));
  await inParallel(frozen, (name) => setDaemonSet(hostile, name, { 'edgeset.io/rollout-plan': 'frozen' }));
  await inParallel(frozen, (name) =>
    eventually(
      `the pods of ${name} run`,
      async () => (await statusOf(hostile, name).catch(() => undefined))?.nodes?.updated === NODES,
      { withinMs: 120_000, everyMs: 500 },
    ),
  );
  image += 1;
  await inParallel(frozen, (name) => setDaemonSet(hostile, name, { 'edgeset.io/rollout-plan': 'frozen' }));
  await eventually('they are frozen', async () => /A freeze .* forbids updates/.test(await says('frozen-49')), {
    withinMs: 120_000,
    everyMs: 500,
  });
  await Promise.all([
    neighbourRollsOut(),
    (async () => {
      for (let shift = 1; shift < 20; shift += 1) await setPlan('frozen', plan(shift));
    })(),
  ]);
  await answersInTime();
});
