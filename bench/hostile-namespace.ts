import type { Api } from '../test/cluster/index.ts';
import { type Benchmark, type Figure, mib, seconds } from './measure/figure.ts';
import { peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { advanced } from './real/advanced.ts';
import { startRealFleet } from './real/fleet.ts';
import { bringTo } from './real/roll-out.ts';

const MIB = 1024 * 1024;
/** The limit in deploy/manager.yaml. */
const LIMIT_MIB = 512;
/** V8's limit of the heap in a container with that limit: a process outside of one has to be told. */
const HEAP_MIB = 256;
const NATIVE = 50;
const ADVANCED = 20;
/** About as much as the API server and etcd accept. */
const DAEMONSET_BYTES = 1_100_000;
const AT_ONCE = 10;
/** Nodes of the neighbour, whose rollout has to continue. */
const NODES = 5;

const inParallel = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** The DaemonSets of a user who wants the manager to fail: none of them has a pod. */
const createHostile = (api: Api, namespace: string) => {
  const paths = [
    ...Array.from({ length: NATIVE }, (_, index) => ({
      path: `/apis/apps/v1/namespaces/${namespace}/daemonsets/big-${index}`,
      big: true,
    })),
    ...Array.from({ length: ADVANCED }, (_, index) => ({
      path: `/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets/quick-${index}`,
      big: false,
    })),
  ];
  const object = (path: string, big: boolean, round: number): object => {
    const app = path.split('/').at(-1) ?? '';
    // The API server allows 256 KiB of annotations; arguments have no limit of their own.
    const args = big ? ['x'.repeat(DAEMONSET_BYTES)] : [];
    return {
      apiVersion: path.includes('kruise') ? 'apps.kruise.io/v1beta1' : 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: app, annotations: { 'example.com/round': String(round) } },
      spec: {
        selector: { matchLabels: { app } },
        updateStrategy: big ? { type: 'OnDelete' } : { type: 'RollingUpdate' },
        template: {
          metadata: { labels: { app }, ...(!big && { annotations: { round: String(round) } }) },
          spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'app', image: 'app:v1', args }] },
        },
      },
    };
  };
  return async (round: number): Promise<void> => {
    await inParallel(paths.length, (index) => {
      const { path = '', big = false } = paths[index] ?? {};
      return api.apply(path, object(path, big, round));
    });
  };
};

/** Memory of the manager beside a namespace whose user does the worst, and whether the rollout of a neighbour continues. */
export const hostileNamespace: Benchmark = {
  name: 'hostile-namespace',
  async run({ quick }) {
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --max-old-space-size=${HEAP_MIB}`;
    const fleet = await startRealFleet(NODES, advanced);
    try {
      const manager = await fleet.startManager();
      const release = { mode: 'recreate', budget: 1, meanStartMs: 300 } as const;
      await bringTo(fleet, { ...release, version: 1 });
      const alone = performance.now();
      await bringTo(fleet, { ...release, version: 2 });
      const aloneMs = performance.now() - alone;
      const before = residentOf(manager.pid);
      const machine = watchMachine();
      const touch = createHostile(fleet.cluster.plane.api, await fleet.cluster.createNamespace('hostile'));
      const rounds = quick ? 2 : 6;
      const beside: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const startedAt = performance.now();
        const rollout = bringTo(fleet, { ...release, version: 2 + round }).then(() =>
          beside.push(performance.now() - startedAt),
        );
        await Promise.all([touch(round), rollout]);
      }
      // A manager started now lists and watches everything at once.
      const second = await fleet.startManager();
      const peaks = [manager, second].map(({ pid }) => peakResidentOf(pid));
      const worst = Math.max(...peaks);
      const figure: Figure = {
        name: 'hostile-namespace',
        measured:
          `${NATIVE} DaemonSets of 1.1 MB and ${ADVANCED} Advanced ones touched together ${rounds} times: ${mib(peaks[0] ?? 0)} at the most ` +
          `(${mib(before)} before, ${mib(residentOf(manager.pid))} after), ${mib(peaks[1] ?? 0)} for a manager started then; ` +
          `a neighbour's rollout to ${NODES} nodes took ${seconds(Math.max(...beside))} at the most, ${seconds(aloneMs)} alone; ${machine()}`,
        goal: `< ${LIMIT_MIB} MiB, the limit of the container`,
        met: worst < LIMIT_MIB * MIB,
      };
      await second.stop();
      await manager.stop();
      return [figure];
    } finally {
      await fleet.stop();
    }
  },
};
