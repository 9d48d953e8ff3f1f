import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { nodes } from '../../src/kube/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { EventRecorder } from '../controllers/index.ts';
import type { Stored, StoredNode, StoredPod } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import type { Delays } from './behaviour.ts';
import { kubeletLabels, postStatus, renewLease } from './node-status.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';

export interface KubeletOptions {
  apiServer: ApiServer;
  clock: Clock;
  recorder: EventRecorder;
  delays: Delays;
  leaseSeconds: number;
  /** Counted from 0; determines the node's addresses. */
  index: number;
}

/** One simulated node. */
export interface Kubelet {
  readonly online: boolean;
  /** The current Node object. */
  node: StoredNode;
  /** Registers the node, posts its status, and syncs all pods. */
  connect(): void;
  /** Cuts the node off: it sends and receives nothing, and pending pod actions are dropped. */
  disconnect(): void;
  renewLease(): void;
  postStatus(): void;
  /** A pod was bound to this node, or changed. */
  syncPod(pod: StoredPod): void;
  removePod(uid: string): void;
  /** The pods of this node. */
  pods(): Iterable<StoredPod>;
  /** Syncs all pods, after the node's simulation settings changed. */
  syncAllPods(): void;
}

const address = (prefix: string, index: number): string => `${prefix}.${(index >> 8) & 255}.${index & 255}`;

export const createKubelet = (first: StoredNode, options: KubeletOptions): Kubelet => {
  const { apiServer, clock, recorder, delays, leaseSeconds, index } = options;
  const ip = address(`172.${20 + (index >> 16)}`, index);
  const workers = new Map<string, PodWorker>();
  let lease: Stored<Lease> | undefined;
  let online = false;
  let addresses = 1;

  const host = {
    ip,
    podIp: () => {
      addresses += 1;
      return `10.${128 + ((index >> 8) & 127)}.${index & 255}.${2 + (addresses % 252)}`;
    },
  };

  const self: Kubelet = {
    node: first,
    get online() {
      return online;
    },
    connect() {
      const missing = Object.entries(kubeletLabels(self.node.metadata.name)).filter(
        ([key]) => self.node.metadata.labels?.[key] === undefined,
      );
      if (missing.length > 0) {
        const body = { metadata: { labels: Object.fromEntries(missing) } };
        self.node = apiServer.patch<StoredNode>(nodes, { name: self.node.metadata.name }, body, { type: 'merge' });
      }
      // A kubelet that cannot register does not start: a lease without a status would keep the node from being marked.
      online = true;
      self.renewLease();
      self.postStatus();
      self.syncAllPods();
    },
    disconnect() {
      online = false;
      for (const worker of workers.values()) worker.stop();
    },
    renewLease() {
      lease = renewLease(apiServer, self.node, lease, leaseSeconds, clock.now());
    },
    postStatus: () => postStatus(apiServer, self.node, ip, clock.now()),
    syncPod(pod) {
      const { uid } = pod.metadata;
      let worker = workers.get(uid);
      if (!worker) {
        const node = (): StoredNode | undefined => (online ? self.node : undefined);
        worker = createPodWorker(pod, { apiServer, clock, recorder, delays, host, node });
        workers.set(uid, worker);
      }
      worker.sync(pod);
    },
    removePod(uid) {
      workers.get(uid)?.stop();
      workers.delete(uid);
    },
    *pods() {
      for (const { pod } of workers.values()) yield pod;
    },
    syncAllPods() {
      for (const worker of workers.values()) worker.sync(worker.pod);
    },
  };
  return self;
};
