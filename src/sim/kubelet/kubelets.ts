import { isKubeError } from '../../kube/index.ts';
import type { Env } from '../../runtime/index.ts';
import {
  createEventRecorder,
  createInformers,
  createTimerQueue,
  type InformerEvent,
  involvedObject,
} from '../controllers/index.ts';
import { nodes, pods, type StoredNode, type StoredPod } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { behaviours, type Delays, OFFLINE, POWER, toBehaviour } from './behaviour.ts';
import { createKubelet, type Kubelet } from './kubelet.ts';

export interface KubeletsOptions {
  apiServer: ApiServer;
  env: Env;
  delays: Delays;
  /** A node that is silent for so long is called not ready: leases are renewed three times as often. Milliseconds. */
  graceMs: number;
}

export interface Kubelets {
  close(): void;
}

// As kubelets do: leases every ten seconds at the longest, the whole status every five minutes.
const LONGEST_RENEWAL_MS = 10_000;
const STATUS_MS = 300_000;
/** Until a node that is back has found the API server again, plus up to as much again. */
const RECONNECT_MS = 250;

const isCut = (node: StoredNode): boolean => node.metadata.annotations?.[POWER] === OFFLINE;

const settingsOf = ({ metadata }: StoredNode): string =>
  JSON.stringify(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => key === POWER || key.startsWith('sim.edgeset.io/')),
  );

const hasSameSettings = (one: StoredNode, other: StoredNode): boolean =>
  one.metadata.annotations === other.metadata.annotations || settingsOf(one) === settingsOf(other);

/** A simulated kubelet for every Node object, whoever created it. */
export const createKubelets = ({ apiServer, env, delays, graceMs }: KubeletsOptions): Kubelets => {
  const { clock, random, log } = env;
  const informers = createInformers(apiServer, clock);
  const recorder = createEventRecorder(apiServer, clock, 'kubelet');
  const fleet = new Map<string, Kubelet>();
  /** Pods that are bound to a node that has no kubelet yet. */
  const early = new Map<string, Map<string, StoredPod>>();
  const renewalMs = Math.min(LONGEST_RENEWAL_MS, graceMs / 3);
  let count = 0;

  /** What fails is tried again at the next beat: a kubelet never ends because of an answer. */
  const attempt = (what: string, name: string, act: (kubelet: Kubelet) => void): void => {
    const kubelet = fleet.get(name);
    if (!kubelet) return;
    try {
      act(kubelet);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      log.debug(`kubelet could not ${what}`, { node: name, error });
    }
  };

  const renewals = createTimerQueue(clock, (name) => {
    if (!fleet.get(name)?.online) return;
    attempt('renew its lease', name, (kubelet) => kubelet.renewLease());
    renewals.set(name, clock.now() + renewalMs);
  });
  const reports = createTimerQueue(clock, (name) => {
    if (!fleet.get(name)?.online) return;
    attempt('post its status', name, (kubelet) => kubelet.postStatus());
    reports.set(name, clock.now() + STATUS_MS);
  });
  const connections = createTimerQueue(clock, (name) => {
    const kubelet = fleet.get(name);
    if (!kubelet || kubelet.online || isCut(kubelet.node)) return;
    attempt('connect', name, (one) => one.connect());
    // Spread, so that a fleet that came up at once does not beat as one.
    renewals.set(name, clock.now() + renewalMs * (0.5 + random() / 2));
    reports.set(name, clock.now() + STATUS_MS * (0.5 + random()));
  });

  const warn = (node: StoredNode): void => {
    const word = node.metadata.annotations?.[POWER];
    if (word === undefined || word === OFFLINE || toBehaviour(word)) return;
    const message = `${POWER}=${word} is not known: use one of ${[OFFLINE, ...behaviours].join(', ')}`;
    const { name } = node.metadata;
    recorder.record(
      { ...involvedObject(node), metadata: { name, uid: name } },
      'Warning',
      'UnknownSimulation',
      message,
    );
  };

  informers.addHandler(nodes, ({ type, object, previous }: InformerEvent<StoredNode>) => {
    const { name } = object.metadata;
    const kubelet = fleet.get(name);
    if (type === 'DELETED') {
      kubelet?.disconnect();
      fleet.delete(name);
      // A node that is made again under the same name finds them.
      early.set(name, new Map([...(kubelet?.pods() ?? [])].map((pod) => [pod.metadata.uid, pod])));
      return;
    }
    if (!kubelet) {
      const leaseSeconds = Math.max(1, Math.floor((graceMs / 1000) * 0.8));
      const made = createKubelet(object, { apiServer, clock, recorder, delays, leaseSeconds, index: count });
      count += 1;
      fleet.set(name, made);
      for (const pod of early.get(name)?.values() ?? []) made.syncPod(pod);
      early.delete(name);
      if (!isCut(object)) connections.set(name, clock.now());
      warn(object);
      return;
    }
    kubelet.node = object;
    const isSetAnew = previous !== undefined && !hasSameSettings(previous, object);
    if (isCut(object)) {
      if (kubelet.online) kubelet.disconnect();
    } else if (!kubelet.online) {
      if (previous && isCut(previous)) connections.set(name, clock.now() + RECONNECT_MS * (1 + random()));
    } else if (isSetAnew) kubelet.syncAllPods();
    if (isSetAnew) warn(object);
  });

  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const node = object.spec?.nodeName;
    if (!node) return;
    const { uid } = object.metadata;
    const kubelet = fleet.get(node);
    if (type === 'DELETED') {
      kubelet?.removePod(uid);
      early.get(node)?.delete(uid);
    } else if (kubelet) kubelet.syncPod(object);
    else {
      const waiting = early.get(node) ?? new Map<string, StoredPod>();
      waiting.set(uid, object);
      early.set(node, waiting);
    }
  });
  return informers;
};
