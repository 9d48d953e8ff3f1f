import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { sleep, steadyClock } from '../src/runtime/index.ts';
import type { DaemonRollout } from '../src/words/index.ts';
import type { Manager } from '../test/conformance/index.ts';
import type { CaseKind } from '../test/conformance/kit/index.ts';
import { kinds } from '../test/conformance/kit/kinds.ts';
import { eventually } from '../test/support/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { watchMachine } from './measure/machine.ts';
import { median } from './measure/median.ts';
import { type RealFleet, startRealFleet } from './real/fleet.ts';
import { type Lag, lagOf, type Told } from './real/status-lag.ts';
import {
  type AdvancedRelease,
  advanced,
  type NativeRelease,
  native,
  type Release,
  type SetStatus,
  type Workload,
} from './real/workload.ts';

const MEDIAN_MS = 100;
/** With the flags that a manager has by default. */
const AS_INSTALLED = { leaderElect: true };
const TIMEOUT_MS = 600_000;
/** Between two bursts: a status is written once a second in the long run, and what follows faster has to wait. */
const REST_MS = 2_000;
/** Up to here, the other ways of an update are measured as well: what they do to a status doesn't depend on the number of nodes. */
const SMALL = 10;

interface Bursts<R extends Release> {
  readonly lags: readonly Lag[];
  rollOut(app: string, release: R): Promise<void>;
  /** `count` pods stop being ready, one after the other, and become ready again. */
  breakPods(app: string, count: number): Promise<void>;
}

/** Bursts of changes: each does one thing, waits until the objects tell its end, and measures how long they took to. */
const createBursts = <R extends Release>(fleet: RealFleet<R>, manager: Manager, kind: CaseKind): Bursts<R> => {
  const { rolloutName } = kinds[kind];
  const { cluster, namespace, nodes } = fleet;
  const { api } = cluster.plane;
  const lags: Lag[] = [];

  const burst = async (app: string, act: () => Promise<unknown>, ready: number): Promise<void> => {
    await sleep(steadyClock, REST_MS);
    const since = Date.now();
    await act();
    const { generation } = await fleet.read(app);
    const isTold = (status: SetStatus): boolean =>
      status.observedGeneration === generation &&
      status.updatedNumberScheduled === nodes &&
      status.numberAvailable === ready;
    const told: Told = {
      // The native controller writes the status of native ones.
      daemonSet: kind === 'advanced' ? isTold : undefined,
      rollout: (status) => status.daemonSetGeneration === generation && status.nodes?.updated === ready,
    };
    await eventually(
      `${app} tells that ${ready} nodes are updated and available`,
      async () => {
        cluster.plane.mustRun();
        const { status } = await fleet.read(app);
        const path = `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/${rolloutName(app)}`;
        const rollout = await api.get<DaemonRollout>(path).catch(() => undefined);
        return isTold(status) && told.rollout(rollout?.status ?? {});
      },
      { withinMs: TIMEOUT_MS, everyMs: 100 },
    );
    const question = { namespace, app, rolloutName: rolloutName(app), user: manager.user, since, told };
    const inLog = async (): Promise<Lag | undefined> => lagOf(await cluster.audit.read(), question);
    lags.push(await eventually('the audit log has both', inLog, { withinMs: 10_000, everyMs: 50 }));
  };

  const setBehaviour = async (app: string, count: number, behaviour: string | null): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await api.get<{ items: Pod[] }>(`${path}?labelSelector=app%3D${app}`);
    const metadata = { annotations: { 'sim.edgeset.io/behaviour': behaviour } };
    for (const pod of items.slice(0, count))
      await api.patch(`${path}/${pod.metadata?.name}`, { metadata }, 'merge-patch');
  };

  return {
    lags,
    rollOut: (app, release) => burst(app, () => fleet.apply(app, release), nodes),
    async breakPods(app, count) {
      await burst(app, () => setBehaviour(app, count, 'never-ready'), nodes - count);
      await burst(app, () => setBehaviour(app, count, null), nodes);
    },
  };
};

const figureOf = (name: string, lags: readonly Lag[], busy: string): Figure => {
  const parts = [
    { object: 'DaemonSet', values: lags.flatMap(({ daemonSet }) => daemonSet ?? []) },
    { object: 'DaemonRollout', values: lags.map(({ rollout }) => rollout) },
  ].filter(({ values }) => values.length > 0);
  const texts = parts.map(
    ({ object, values }) =>
      `${object} median ${Math.round(median(values))} ms, worst ${Math.round(Math.max(...values))} ms`,
  );
  return {
    name: `status-lag ${name}`,
    measured: `${texts.join('; ')}; ${lags.length} bursts; ${busy}`,
    goal: `median <= ${MEDIAN_MS} ms from the last change of a pod`,
    met: parts.every(({ values }) => median(values) <= MEDIAN_MS),
  };
};

/** `round` plays bursts on a DaemonSet of its own. */
const measure = async <R extends Release>(
  workload: Workload<R>,
  { nodes, rounds }: { nodes: number; rounds: number },
  round: (bursts: Bursts<R>, app: string, nodes: number) => Promise<void>,
): Promise<Figure> => {
  const fleet = await startRealFleet(nodes, workload);
  try {
    const manager = await fleet.startManager(AS_INSTALLED);
    const machine = watchMachine();
    const bursts = createBursts(fleet, manager, workload.kind);
    for (let count = 0; count < rounds; count += 1) {
      await round(bursts, `app-${count}`, nodes);
      await fleet.remove(`app-${count}`);
    }
    const busy = machine();
    await manager.stop();
    return figureOf(`${workload.kind} N=${nodes}`, bursts.lags, busy);
  } finally {
    await fleet.stop();
  }
};

const playAdvanced = async (bursts: Bursts<AdvancedRelease>, app: string, nodes: number): Promise<void> => {
  const rollOut = (version: number, more: Partial<AdvancedRelease> = {}): Promise<void> =>
    bursts.rollOut(app, { mode: 'in place', budget: '100%', meanStartMs: 300, version, ...more });
  await rollOut(1);
  await bursts.breakPods(app, 1);
  await rollOut(2);
  await bursts.breakPods(app, Math.min(20, Math.ceil(nodes / 2)));
  if (nodes > SMALL) return;
  await rollOut(3, { budget: 2 });
  await rollOut(4, { mode: 'recreate', budget: 2 });
  await rollOut(5, { mode: 'surge' });
};

const playNative = async (bursts: Bursts<NativeRelease>, app: string, nodes: number): Promise<void> => {
  const rollOut = (version: number, maxUnavailable: string): Promise<void> =>
    bursts.rollOut(app, { version, maxUnavailable, meanStartMs: 300 });
  await rollOut(1, '100%');
  await bursts.breakPods(app, Math.ceil(nodes / 2));
  await rollOut(2, '100%');
  await rollOut(3, '2');
};

/** How long the status of a DaemonSet takes to follow its pods, with the manager's process on a real control plane. */
export const statusLag: Benchmark = {
  name: 'status-lag',
  async *run({ quick }) {
    const small = { nodes: 5, rounds: quick ? 1 : 4 };
    yield await measure(advanced, small, playAdvanced);
    yield await measure(native, small, playNative);
    yield await measure(advanced, quick ? { nodes: 100, rounds: 1 } : { nodes: 1_000, rounds: 2 }, playAdvanced);
  },
};
