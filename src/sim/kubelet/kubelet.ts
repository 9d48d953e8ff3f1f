import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Clock } from '../../runtime/index.ts';
import type { EventRecorder } from '../controllers/index.ts';
import { nodes, type Stored, type StoredNode, type StoredPod } from '../resources.ts';
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
  /** Counts from 0; makes the node's addresses. */
  index: number;
}

/** One simulated node. */
export interface Kubelet {
  readonly online: boolean;
  /** The object as it is now. */
  node: StoredNode;
  /** Says who it is and that it is well, and looks at every pod. */
  connect(): void;
  /** Cut off: it says nothing, hears nothing, and what its pods were about to do does not happen. */
  disconnect(): void;
  renewLease(): void;
  postStatus(): void;
  /** A pod of this node is there, or has changed. */
  syncPod(pod: StoredPod): void;
  removePod(uid: string): void;
  /** Those of this node. */
  pods(): Iterable<StoredPod>;
  /** The node's own settings have changed. */
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
    now: 0,
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
      online = true;
      const missing = Object.entries(kubeletLabels(self.node.metadata.name)).filter(
        ([key]) => self.node.metadata.labels?.[key] === undefined,
      );
      if (missing.length > 0) {
        const body = { metadata: { labels: Object.fromEntries(missing) } };
        self.node = apiServer.patch<StoredNode>(nodes, { name: self.node.metadata.name }, body, { type: 'merge' });
      }
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
