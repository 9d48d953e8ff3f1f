import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Clock } from '../../runtime/index.ts';
import type { EventRecorder } from '../controllers/index.ts';
import { type Kept, type KeptNode, type KeptPod, nodes } from '../resources.ts';
import type { Machinery } from '../types.ts';
import type { Delays } from './behaviour.ts';
import { postStatus, renewLease } from './heartbeat.ts';
import { ownLabels } from './node-status.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';

export interface KubeletOptions {
  machinery: Machinery;
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
  node: KeptNode;
  /** Says who it is and that it is well, and looks at every pod. */
  connect(): void;
  /** Cut off: it says nothing, hears nothing, and what its pods were about to do does not happen. */
  disconnect(): void;
  renew(): void;
  post(): void;
  /** A pod of this node is there, or has changed. */
  take(pod: KeptPod): void;
  drop(uid: string): void;
  /** Those of this node. */
  pods(): Iterable<KeptPod>;
  /** The node's own settings have changed. */
  lookAround(): void;
}

const address = (prefix: string, index: number): string => `${prefix}.${(index >> 8) & 255}.${index & 255}`;

export const createKubelet = (first: KeptNode, options: KubeletOptions): Kubelet => {
  const { machinery, clock, recorder, delays, leaseSeconds, index } = options;
  const ip = address(`172.${20 + (index >> 16)}`, index);
  const workers = new Map<string, PodWorker>();
  let lease: Kept<Lease> | undefined;
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
      const missing = Object.entries(ownLabels(self.node.metadata.name)).filter(
        ([key]) => self.node.metadata.labels?.[key] === undefined,
      );
      if (missing.length > 0) {
        const body = { metadata: { labels: Object.fromEntries(missing) } };
        self.node = machinery.patch<KeptNode>(nodes, { name: self.node.metadata.name }, body, { type: 'merge' });
      }
      self.renew();
      self.post();
      self.lookAround();
    },
    disconnect() {
      online = false;
      for (const worker of workers.values()) worker.halt();
    },
    renew() {
      lease = renewLease(machinery, self.node, lease, leaseSeconds, clock.now());
    },
    post: () => postStatus(machinery, self.node, ip, clock.now()),
    take(pod) {
      const { uid } = pod.metadata;
      let worker = workers.get(uid);
      if (!worker) {
        const node = (): KeptNode | undefined => (online ? self.node : undefined);
        worker = createPodWorker(pod, { machinery, clock, recorder, delays, host, node });
        workers.set(uid, worker);
      }
      worker.look(pod);
    },
    drop(uid) {
      workers.get(uid)?.halt();
      workers.delete(uid);
    },
    *pods() {
      for (const { pod } of workers.values()) yield pod;
    },
    lookAround() {
      for (const worker of workers.values()) worker.look(worker.pod);
    },
  };
  return self;
};
