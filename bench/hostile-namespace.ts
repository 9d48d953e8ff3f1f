import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RolloutPlanSpec } from '../src/words/index.ts';
import type { Api } from '../test/cluster/index.ts';
import { sample, startMetricsServer } from '../test/conformance/kit/metrics-server.ts';
import { onBody, sendJson, startTestServer, type TestServer } from '../test/support/index.ts';
import { type Benchmark, type Figure, mib, seconds } from './measure/figure.ts';
import { peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { startRealFleet } from './real/fleet.ts';
import { bringTo } from './real/roll-out.ts';
import { advanced } from './real/workload.ts';

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
/** Those whose plan has as many requirements as its schema accepts, and as many checks, each asked every second. */
const PLANNED = 10;
const MOST_REQUIREMENTS = 16;
const MOST_VALUES = 64;
const MOST_STAGES = 20;
const ANSWER = sample(`${'1'.repeat(1_000_000)}x`);
/** How much longer a rollout beside them may take than alone. */
const TIMES = 5;
/** How long after the fact a healthy receiver may hear of it, on a machine that is busy throughout. */
const MOST_DELAY_MS = 5_000;
/** Nodes of the neighbour, whose rollout has to continue. */
const NODES = 5;

const inParallel = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

/** No node has these labels, so that each requirement is compared with every node, and holds. */
const matchExpressions = many(MOST_REQUIREMENTS, (key) => ({
  key: `key-${key}`,
  operator: 'NotIn',
  values: many(MOST_VALUES, (value) => `value-${value}`),
}));

const planSpec = (address: string): RolloutPlanSpec => {
  const checks = many(MOST_STAGES, (index) => ({
    name: `check-${index}`,
    prometheus: { address, query: `up{check="${index}"}`, condition: 'result.all(r, r < 1.0)', interval: '1s' },
  }));
  const asked = { name: 'asked', promote: { soak: '8760h', checks: checks.map(({ name }) => name) } };
  const others = many(MOST_STAGES - 1, (index) => ({ name: `s${index}`, nodes: { selector: { matchExpressions } } }));
  return { checks, stages: [asked, ...others] };
};

/** Changes the plan and all DaemonSets that name it, whose pods run on every node. */
const createPlanned =
  (api: Api, namespace: string, address: string) =>
  async (round: number): Promise<void> => {
    const metadata = (name: string) => ({ name, labels: { round: String(round) } });
    await api.apply(`/apis/edgeset.io/v1alpha1/namespaces/${namespace}/rolloutplans/big`, {
      apiVersion: 'edgeset.io/v1alpha1',
      kind: 'RolloutPlan',
      metadata: metadata('big'),
      spec: { ...planSpec(address), windowsOnRollback: round % 2 === 0 },
    });
    await inParallel(PLANNED, (index) => {
      const app = `planned-${index}`;
      return api.apply(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${app}`, {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: {
          ...metadata(app),
          annotations: { 'edgeset.io/update-strategy': 'auto', 'edgeset.io/rollout-plan': 'big' },
        },
        spec: {
          selector: { matchLabels: { app } },
          updateStrategy: { type: 'OnDelete' },
          template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'app', image: `app:v${round}` }] } },
        },
      });
    });
  };

/** Two receivers of all notifications: one takes requests and never answers, of the other the delays are kept. */
const startReceivers = async () => {
  const delays: number[] = [];
  let unanswered = 0;
  const dead = await startTestServer({ protocol: 'http' }, () => void (unanswered += 1));
  const healthy = await startTestServer({ protocol: 'http' }, (request, response) => {
    onBody(request, (body) => {
      delays.push(Date.now() - Date.parse((JSON.parse(body) as { time: string }).time));
      sendJson(response, {}, 202);
    });
  });
  const target = (name: string, { url }: TestServer) => ({
    name,
    type: 'webhook',
    url: `${url}/in`,
    keys: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  });
  return {
    config: { plainHttpHosts: ['127.0.0.1'], targets: [target('dead', dead), target('healthy', healthy)] },
    delays,
    unanswered: () => unanswered,
    close: () => Promise.all([dead.close(), healthy.close()]),
  };
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
    const prometheus = await startMetricsServer((_, response) => void response.end(ANSWER));
    const receivers = await startReceivers();
    const file = join(mkdtempSync(join(tmpdir(), 'edgeset-bench-')), 'notifications.json');
    writeFileSync(file, JSON.stringify(receivers.config));
    const args = [`--allowed-check-addresses=${prometheus.url}`, `--notifications-config=${file}`];
    const fleet = await startRealFleet(NODES, { ...advanced, args });
    try {
      const manager = await fleet.startManager();
      const release = { mode: 'recreate', budget: 1, meanStartMs: 300 } as const;
      await bringTo(fleet, { ...release, version: 1 });
      const alone = performance.now();
      await bringTo(fleet, { ...release, version: 2 });
      const aloneMs = performance.now() - alone;
      const before = residentOf(manager.pid);
      const machine = watchMachine();
      const { api } = fleet.cluster.plane;
      const [big, planned] = [
        await fleet.cluster.createNamespace('hostile'),
        await fleet.cluster.createNamespace('planned'),
      ];
      const touches = [createHostile(api, big), createPlanned(api, planned, prometheus.url)];
      const rounds = quick ? 2 : 6;
      const beside: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const startedAt = performance.now();
        const rollout = bringTo(fleet, { ...release, version: 2 + round }).then(() =>
          beside.push(performance.now() - startedAt),
        );
        await Promise.all([...touches.map((touch) => touch(round)), rollout]);
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
      const times = Math.max(...beside) / aloneMs;
      const besideThem: Figure = {
        name: 'hostile-neighbours',
        measured:
          `beside these, and ${PLANNED} DaemonSets whose plan has ${MOST_STAGES} stages of ${MOST_REQUIREMENTS} requirements and ` +
          `${MOST_STAGES} checks, answered ${prometheus.requests.length} times by a megabyte of digits: a rollout takes ${times.toFixed(1)} times as long as alone`,
        goal: `< ${TIMES} times`,
        met: times < TIMES,
      };
      const longest = Math.max(...receivers.delays);
      const heard: Figure = {
        name: 'hostile-receiver',
        measured:
          `beside a receiver that left ${receivers.unanswered()} requests unanswered, a healthy one had ${receivers.delays.length} ` +
          `notifications, the last ${seconds(longest)} after the fact`,
        goal: `< ${seconds(MOST_DELAY_MS)}`,
        met: receivers.delays.length > 0 && receivers.unanswered() > 0 && longest < MOST_DELAY_MS,
      };
      return [figure, besideThem, heard];
    } finally {
      prometheus.close();
      await receivers.close();
      rmSync(dirname(file), { recursive: true });
      await fleet.stop();
    }
  },
};
