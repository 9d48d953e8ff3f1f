import { eventually } from '../test/support/index.ts';
import { type Benchmark, megabytes, seconds } from './measure/figure.ts';
import { cpuMsOf, peakResidentOf, watchMachine } from './measure/machine.ts';
import { BATCH_LABEL, createClusterFleet } from './real/cluster-fleet.ts';
import { startEmbeddedFleet } from './real/embedded-fleet.ts';
import { termsOf } from './real/terms.ts';
import { type NativeRelease, native, type SetStatus } from './real/workload.ts';

/** A new leader acts within this time of its lease. */
const GOAL_MS = 5_000;
const TIMEOUT_MS = 240_000;
const POLL_MS = 1_000;
/** DaemonSets of one namespace. */
const PER_NAMESPACE = 5;

/** DaemonSets of one size, of which this many nodes are updated: the embedded cluster changes some hundred pods a second. */
interface Kind {
  nodes: number;
  updated: number;
}

interface Size {
  nodes: number;
  /** One is large, the others are small. */
  daemonSets: number;
  large: Kind;
  small: Kind;
}

const FULL: Size = {
  nodes: 10_000,
  daemonSets: 100,
  large: { nodes: 10_000, updated: 1_000 },
  small: { nodes: 100, updated: 30 },
};
const QUICK: Size = { ...FULL, nodes: 1_000, daemonSets: 10, large: { nodes: 1_000, updated: 100 } };

interface SetList {
  items: { metadata: { name: string }; status?: SetStatus }[];
}

type Fleet = Awaited<ReturnType<typeof startEmbeddedFleet<NativeRelease>>>;

/** One DaemonSet on all nodes, and others on 100 nodes each, in many namespaces. */
const createSets = async ({ cluster }: Fleet, { nodes, daemonSets, large, small }: Size) => {
  const { api } = cluster;
  const fleets = await Promise.all(
    Array.from({ length: Math.ceil(daemonSets / PER_NAMESPACE) }, () =>
      createClusterFleet(cluster, { api, nodes, workload: native }),
    ),
  );
  const sets = Array.from({ length: daemonSets }, (_, index) => {
    const kind = index === 0 ? large : small;
    const name = `set-${index}`;
    const release = {
      maxUnavailable: '10%',
      partition: String(kind.nodes - kind.updated),
      meanStartMs: 300,
      ...(kind === small && { nodeSelector: { [BATCH_LABEL]: String(index) } }),
    };
    const apply = async (version: number): Promise<void> =>
      fleets[index % fleets.length]?.apply(name, { ...release, version });
    return { name, kind, apply };
  });
  return {
    apply: async (version: number): Promise<void> => void (await Promise.all(sets.map(({ apply }) => apply(version)))),
    /** Resolves when `holds` for the status of each of them. */
    async whenAll(what: string, holds: (status: SetStatus, kind: Kind) => boolean): Promise<void> {
      const test = async (): Promise<boolean> => {
        const { items } = await api.get<SetList>('/apis/apps/v1/daemonsets');
        const statuses = new Map(items.map(({ metadata, status }) => [metadata.name, status ?? {}]));
        return sets.every(({ name, kind }) => holds(statuses.get(name) ?? {}, kind));
      };
      await eventually(what, test, { withinMs: TIMEOUT_MS, everyMs: POLL_MS });
    },
    pods: large.updated + (daemonSets - 1) * small.updated,
  };
};

/** Two managers with many DaemonSets that are all rolled out at once; the second one takes over when the first is killed. */
export const manyReal: Benchmark = {
  name: 'many-real',
  async run({ quick }) {
    const size = quick ? QUICK : FULL;
    const fleet = await startEmbeddedFleet(size.nodes, native, size.small.nodes);
    const { audit } = fleet.cluster;
    try {
      const sets = await createSets(fleet, size);
      await sets.apply(1);
      await sets.whenAll('every node has its pods', ({ numberAvailable }, { nodes }) => numberAvailable === nodes);
      await sets.apply(2);
      const machine = watchMachine();
      const startedAt = Date.now();
      const leader = await fleet.startManager({ leaderElect: true });
      const readyAt = Date.now();
      const standby = await fleet.startManager({ leaderElect: true });
      await sets.whenAll(
        'every DaemonSet has an updated node',
        ({ updatedNumberScheduled = 0 }) => updatedNumberScheduled > 0,
      );
      const leaderCpuMs = cpuMsOf(leader.pid);
      const leaderPeak = peakResidentOf(leader.pid);
      leader.kill('SIGKILL');
      const killedAt = Date.now();
      await sets.whenAll(
        'every DaemonSet is rolled out',
        ({ updatedNumberScheduled = 0 }, { updated }) => updatedNumberScheduled >= updated,
      );
      const tookMs = Date.now() - startedAt;
      const cpuMs = leaderCpuMs + cpuMsOf(standby.pid);
      const peak = Math.max(leaderPeak, peakResidentOf(standby.pid));
      const [first, second] = termsOf(await audit.read(), leader.user);
      if (!first || !second) throw new Error('the standby did not take over');
      await standby.stop();
      const begins = [...first.firstDeletes.values()].map((at) => at - first.leaseAt).toSorted((a, b) => a - b);
      const actMs = second.firstWriteAt - second.leaseAt;
      return [
        {
          name: 'many-real',
          measured:
            `${size.daemonSets} DaemonSets on ${size.nodes} nodes: caches full ${seconds(readyAt - startedAt)} after the start; ` +
            `from the lease to the first delete of one ${seconds(begins[0] ?? 0)}, of all ${seconds(begins.at(-1) ?? 0)}; ` +
            `${sets.pods} pods updated in ${seconds(tookMs)}, ${(cpuMs / sets.pods).toFixed(1)} ms CPU a pod of both managers; ` +
            `at most ${megabytes(peak)} resident; embedded cluster; ${machine()}`,
          goal: '-',
          met: undefined,
        },
        {
          name: 'many-real standby',
          measured:
            `first write ${seconds(actMs)} after its lease, which it took ${seconds(second.leaseAt - killedAt)} after the ` +
            `leader was killed`,
          goal: `<= ${seconds(GOAL_MS)}`,
          met: actMs <= GOAL_MS,
        },
      ];
    } finally {
      await fleet.stop();
    }
  },
};
