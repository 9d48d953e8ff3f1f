import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { createController } from '../../src/controller/index.ts';
import { createEventRecorder, type KubeObject } from '../../src/kube/index.ts';
import { nativeKind } from '../../src/native/index.ts';
import { planApi, type RolloutPlanObject, type RolloutPlanSpec } from '../../src/rollout/index.ts';
import { createRandom, createVirtualClock, type Env, silentLogger } from '../../src/runtime/index.ts';
import type { OccupiedSlot } from '../measure/slots.ts';
import { createMemoryApi } from './api.ts';

const NAMESPACE = 'edge';
const SET_UID = 'set-uid';
const PLAN = 'rings';
const LABELS = { app: 'app' };
const LONGEST_MS = 86_400_000;
const START_MS = 1_700_000_000_000;

export interface FleetOptions {
  nodes: number;
  /** Value of apps.openyurt.io/max-unavailable. */
  maxUnavailable: string;
  /** How long a node is down when its pod is replaced, ms; asked once a replacement. */
  downMs: () => number;
  roundTripMs: number;
  watchLagMs: number;
  copies?: boolean;
  /** The rollout plan that the DaemonSet names. */
  plan?: RolloutPlanSpec;
}

const iso = (ms: number): string => new Date(ms).toISOString();

const nodeObject = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    uid: `node-${name}`,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': 'edge-small',
      'topology.kubernetes.io/region': 'north',
      'topology.kubernetes.io/zone': `north-${name.slice(-1)}`,
      'example.com/site': `site-${name.slice(-3)}`,
      'example.com/role': 'till',
    },
  },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: iso(START_MS - 3_600_000) }] },
});

/** A fleet in memory with the real native controller on it: one DaemonSet, and what the cluster does with its pods. */
export const createFleet = (options: FleetOptions) => {
  const { nodes, maxUnavailable, downMs, roundTripMs, watchLagMs, copies = false } = options;
  const clock = createVirtualClock(START_MS);
  const env: Env = { clock, random: createRandom(7), log: silentLogger };
  const downs: OccupiedSlot[] = [];
  const podOf = new Map<string, Pod>();
  let release = 1;
  let made = 0;
  let changes = 0;

  const onDelete = (pod: KubeObject): void => replacePod(pod as Pod);
  const api = createMemoryApi({ clock, roundTripMs, watchLagMs, copies, onDelete });

  const podObject = (node: string, ready: boolean): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `app-${(made += 1)}`,
      namespace: NAMESPACE,
      uid: `pod-${made}`,
      labels: { ...LABELS, 'controller-revision-hash': `hash${release}` },
      creationTimestamp: iso(clock.now()),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: SET_UID, controller: true }],
    },
    spec: { nodeName: node, containers: [{ name: 'app', image: `app:v${release}` }] },
    status: {
      phase: ready ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: iso(clock.now()) }],
    },
  });

  const setReady = (node: string, ready: boolean): void => {
    const pod = podOf.get(node);
    if (!pod) return;
    const { phase, conditions } = podObject(node, ready).status ?? {};
    podOf.set(node, api.commit('MODIFIED', 'pods', { ...pod, status: { phase, conditions } } as Pod));
  };

  const replacePod = (pod: Pod): void => {
    const node = pod.spec?.nodeName ?? '';
    const from = clock.now();
    const down = downMs();
    const began = (changes += 1);
    clock.timer(down / 5, () => {
      api.commit('DELETED', 'pods', pod);
      clock.timer(Math.min(30, down / 10), () => podOf.set(node, api.commit('ADDED', 'pods', podObject(node, false))));
    });
    clock.timer(down, () => {
      setReady(node, true);
      downs.push({
        node,
        requestedAt: from,
        from,
        to: clock.now(),
        lagMs: 0,
        began,
        ended: (changes += 1),
        ours: true,
      });
    });
  };

  const daemonSet = (observed: boolean): DaemonSet => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'app',
      namespace: NAMESPACE,
      uid: SET_UID,
      generation: release,
      annotations: {
        'apps.openyurt.io/update-strategy': 'auto',
        'apps.openyurt.io/max-unavailable': maxUnavailable,
        ...(options.plan && { 'edgeset.io/rollout-plan': PLAN }),
      },
    },
    spec: { selector: { matchLabels: LABELS }, updateStrategy: { type: 'OnDelete' }, template: template() },
    status: {
      observedGeneration: observed ? release : release - 1,
      currentNumberScheduled: nodes,
      desiredNumberScheduled: nodes,
      numberMisscheduled: 0,
      numberReady: nodes,
    },
  });
  const template = () => ({
    metadata: { labels: LABELS },
    spec: { containers: [{ name: 'app', image: `app:v${release}` }] },
  });
  const revision = (): ControllerRevision => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `app-${release}`,
      namespace: NAMESPACE,
      uid: `revision-${release}`,
      labels: { ...LABELS, 'controller-revision-hash': `hash${release}` },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: SET_UID, controller: true }],
    },
    revision: release,
    data: { spec: { template: { ...template(), $patch: 'replace' } } },
  });

  const names = Array.from({ length: nodes }, (_, index) => `edge-${String(index).padStart(6, '0')}`);
  for (const name of names) {
    api.commit('ADDED', 'nodes', nodeObject(name));
    podOf.set(name, api.commit('ADDED', 'pods', podObject(name, true)));
  }
  if (options.plan) {
    const { apiVersion, plan } = planApi;
    const object: RolloutPlanObject = {
      apiVersion,
      kind: plan.kind,
      metadata: { name: PLAN, namespace: NAMESPACE },
      spec: options.plan,
    };
    api.commit('ADDED', plan.plural, object);
  }
  api.commit('ADDED', 'daemonsets', daemonSet(true));
  api.commit('ADDED', 'controllerrevisions', revision());

  const events = createEventRecorder({
    client: api.client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: 'bench',
  });
  const stop = new AbortController();
  const controller = createController(nativeKind, { client: api.client, env, events, identity: 'bench' });

  /** What takes longer will never happen: a day of virtual time. */
  const until = async (done: () => boolean): Promise<void> => {
    if (!(await clock.advanceUntil(done, LONGEST_MS)))
      throw new Error('what is waited for on the virtual clock never happens');
  };

  return {
    names,
    clock,
    /** Lets virtual time pass until `done`. Rejects when that never comes. */
    until,
    controller,
    writes: api.writes,
    /** Every replacement so far that has ended. */
    downs: downs as readonly OccupiedSlot[],
    /** Starts the controller; resolves when its status says that all nodes run the first revision. */
    async start(): Promise<void> {
      void events.run(stop.signal);
      void controller.run(stop.signal);
      await until(() => controller.synced());
      void controller.lead(stop.signal);
      const isComplete = (): boolean =>
        [...controller.snapshot()].some(({ ledger }) => ledger.state.lastComplete?.hash === 'hash1');
      await until(isComplete);
    },
    /** Sets a new template; the DaemonSet controller records it at once. */
    release(): void {
      release += 1;
      api.commit('ADDED', 'controllerrevisions', revision());
      api.commit('MODIFIED', 'daemonsets', daemonSet(true));
    },
    setReady,
    async stop(): Promise<void> {
      stop.abort(new Error('the benchmark is over'));
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};
export type Fleet = ReturnType<typeof createFleet>;
