import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { type FakeApiServer, startFakeApiServer } from '../../../../test/support/index.ts';
import { systemClock } from '../../../runtime/index.ts';
import type { DaemonRolloutStatus } from '../../../words/index.ts';
import type { ProcessIo } from '../../io.ts';
import type { ProgramName } from '../../main.ts';
import { type Ran, run } from '../../testing/index.ts';

export const SETS = '/apis/apps/v1/namespaces/shop/daemonsets';
export const ADVANCED_SETS = '/apis/apps.kruise.io/v1beta1/namespaces/shop/daemonsets';
export const ROLLOUTS = '/apis/edgeset.io/v1alpha1/namespaces/shop/daemonrollouts';
export const NODES = '/api/v1/nodes';
export const EVENTS = '/api/v1/namespaces/shop/events';
export const PODS = '/api/v1/namespaces/shop/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/edgeset-system/leases';
export const REVISIONS = '/apis/apps/v1/namespaces/shop/controllerrevisions';

/** Of a rollout whose manager has observed the current template. */
export const observed = {
  daemonSetGeneration: 2,
  target: { revision: 'web-new', hash: 'new', number: 2 },
  rollout: 1,
};

const ownerOf = (apiVersion: string) => ({
  apiVersion,
  kind: 'DaemonSet',
  name: 'web',
  uid: 'uid-web',
  controller: true,
});
const daemonSetOf = (apiVersion: string, updateStrategy: object, metadata: object = {}) => ({
  apiVersion,
  kind: 'DaemonSet',
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', generation: 2, ...metadata },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy,
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { nodeSelector: { edge: 'yes' }, containers: [{ name: 'web', image: 'web:2' }] },
    },
  },
  status: { observedGeneration: 2 },
});
const LONG_AGO = '2020-01-01T00:00:00Z';

/** A fake cluster with a namespace `shop`, new for each test of a file. */
export const createFakeCluster = () => {
  let api: FakeApiServer;
  let dir = '';
  /** The last DaemonSet owns the objects that are created after it. */
  let owner = ownerOf('apps/v1');
  before(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'edgeset-plugin-'));
  });
  beforeEach(async () => {
    await api?.close();
    owner = ownerOf('apps/v1');
    api = await startFakeApiServer(
      'daemonsets',
      'daemonrollouts',
      'nodes',
      'pods',
      'controllerrevisions',
      'namespaces',
      'leases',
      'events',
    );
    world.writeKubeconfig(api.url);
  });
  after(async () => {
    await api.close();
    rmSync(dir, { recursive: true });
  });

  const world = {
    get api(): FakeApiServer {
      return api;
    },
    get kubeconfig(): string {
      return path.join(dir, 'config');
    },
    writeKubeconfig(server: string): void {
      const config = {
        'current-context': 'test',
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }],
        clusters: [{ name: 'test', cluster: { server } }],
        users: [{ name: 'test', user: { token: 'secret' } }],
      };
      writeFileSync(path.join(dir, 'config'), JSON.stringify(config));
    },
    /** Runs `kubectl edgeset`; `io` overrides parts of its process. */
    run: (args: readonly string[], io: Partial<ProcessIo> = {}): Promise<Ran> =>
      run(args, { environment: { KUBECONFIG: world.kubeconfig }, random: () => 0.5, ...io }, 'kubectl edgeset'),
    /** Runs the program under another name, with more of its environment. */
    runAs: (name: ProgramName, args: readonly string[], environment: Record<string, string>): Promise<Ran> =>
      run(args, { environment: { ...environment, KUBECONFIG: world.kubeconfig }, random: () => 0.5 }, name),
    /** Runs a command that succeeds without messages. Resolves with its stdout. */
    async output(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await world.run(args);
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    },

    daemonSet(annotations: Record<string, string> = {}, metadata: object = {}, status: object = {}): void {
      owner = ownerOf('apps/v1');
      const strategy = { 'apps.openyurt.io/update-strategy': 'auto', ...annotations };
      const daemonSet = daemonSetOf('apps/v1', { type: 'OnDelete' }, { annotations: strategy, ...metadata });
      api.put(SETS, {
        ...daemonSet,
        spec: { ...daemonSet.spec, minReadySeconds: 0 },
        status: { ...daemonSet.status, ...status },
      });
    },
    /** An Advanced DaemonSet with the same name, template and UID: it owns the same pods as the native one. */
    advanced(rollingUpdate: object = {}, type = 'RollingUpdate', metadata: object = {}): void {
      owner = ownerOf('apps.kruise.io/v1beta1');
      api.put(ADVANCED_SETS, daemonSetOf('apps.kruise.io/v1beta1', { type, rollingUpdate }, metadata));
    },
    /** The DaemonRollout with the status that a manager wrote, about the DaemonSet as it is unless it says otherwise. */
    rollout(status: DaemonRolloutStatus | undefined, metadata: { name?: string; [field: string]: unknown } = {}): void {
      const [, name = 'web', suffix] = /^(.*?)(\.apps\.kruise\.io)?$/.exec(metadata.name ?? 'web') ?? [];
      const itsOwner = { ...(suffix ? ownerOf('apps.kruise.io/v1beta1') : owner), name };
      api.put(ROLLOUTS, {
        apiVersion: 'edgeset.io/v1alpha1',
        kind: 'DaemonRollout',
        metadata: { name: 'web', namespace: 'shop', ownerReferences: [itsOwner], managedFields: [{}], ...metadata },
        ...(status && { status: { daemonSetGeneration: 2, ...status } }),
      });
    },
    /** The Lease of the manager: held and renewed just now, or released. */
    lease(state: 'held' | 'released'): void {
      const renewTime = new Date(systemClock.now()).toISOString().replace('Z', '000Z');
      api.put(LEASES, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'edgeset-manager', namespace: 'edgeset-system' },
        spec: { holderIdentity: state === 'held' ? 'manager-1' : '', leaseDurationSeconds: 15, renewTime },
      });
    },
    node(name: string, ready = true, extra: { labels?: Record<string, string>; taints?: object[] } = {}): void {
      api.put(NODES, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, uid: `uid-${name}`, labels: { edge: 'yes', ...extra.labels } },
        spec: { taints: extra.taints ?? [] },
        status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime: LONG_AGO }] },
      });
    },
    /** When the readiness of a node changed last. */
    nodeSince(name: string, lastTransitionTime: string): void {
      const node = JSON.parse(api.text(`${NODES}/${name}`)) as { status: { conditions: object[] } };
      const conditions = node.status.conditions.map((condition) => ({ ...condition, lastTransitionTime }));
      api.put(NODES, { ...node, status: { conditions } });
    },
    pod(node: string, hash: string, ready = true, { gated = false, asks = '' } = {}): void {
      api.put(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `web-${node}`,
          namespace: 'shop',
          uid: `uid-pod-${node}`,
          creationTimestamp: LONG_AGO,
          labels: { app: 'web', 'controller-revision-hash': hash },
          ownerReferences: [owner],
        },
        spec: {
          nodeName: node,
          containers: [],
          ...(gated && { readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] }),
        },
        status: {
          conditions: [
            { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: LONG_AGO },
            ...(asks ? [{ type: 'PodImageReady', status: 'False', reason: 'PullingImage', message: asks }] : []),
            ...(gated ? [{ type: 'InPlaceUpdateReady', status: 'True', lastTransitionTime: LONG_AGO }] : []),
          ],
        },
      });
    },
    revision(hash: string, number: number): void {
      api.put(REVISIONS, {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: {
          name: `web-${hash}`,
          namespace: 'shop',
          labels: { 'controller-revision-hash': hash },
          ownerReferences: [owner],
        },
        revision: number,
        data: { spec: { template: { metadata: { annotations: { hash } } } } },
      });
    },
    /** Three nodes whose owners decide; the first one is updated. */
    otaFleet(annotations: Record<string, string> = {}): void {
      world.daemonSet({ 'apps.openyurt.io/update-strategy': 'ota', ...annotations });
      world.fleet('n1', 'n2', 'n3');
      world.pod('n1', 'new');
      world.rollout(observed);
    },
    /** Two revisions, `old` and `new`, and nodes with a healthy pod of the old one. */
    fleet(...names: string[]): void {
      world.revision('old', 1);
      world.revision('new', 2);
      for (const name of names) {
        world.node(name);
        world.pod(name, 'old');
      }
    },
  };
  return world;
};
