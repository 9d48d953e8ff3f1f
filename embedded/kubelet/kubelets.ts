import { isKubeError, nodes, pods } from '../../src/kube/index.ts';
import type { Env } from '../../src/runtime/index.ts';
import {
  type Controller,
  createEventRecorder,
  createInformers,
  createTimerQueue,
  type InformerEvent,
  involvedObject,
} from '../controllers/index.ts';
import type { StoredNode, StoredPod } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { behaviours, type Delays, OFFLINE, POWER, toBehaviour } from './behaviour.ts';
import { createKubelet, type Kubelet } from './kubelet.ts';

export interface KubeletsOptions {
  apiServer: ApiServer;
  env: Env;
  delays: Delays;
  /** A node is unreachable after this many milliseconds of silence; until then its lease is renewed at least three times. */
  graceMs: number;
}

// The kubelet's interval for leases, which belongs to a grace period of 40 s: with a longer one, renewals are as much rarer.
const RENEWAL_MS = 10_000;
const RENEWALS_IN_GRACE = 4;
/** The kubelet's interval for the whole status. */
const STATUS_MS = 300_000;
/** The reconnect delay of a node that is back online; up to twice as long. */
const RECONNECT_MS = 250;
/** The longest interval at which a kubelet tries again to register. */
const RETRY_MS = 7000;

const isOffline = (node: StoredNode): boolean => node.metadata.annotations?.[POWER] === OFFLINE;

const settingsOf = ({ metadata }: StoredNode): string =>
  JSON.stringify(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => key === POWER || key.startsWith('sim.edgeset.io/')),
  );

const hasSameSettings = (one: StoredNode, other: StoredNode): boolean =>
  one.metadata.annotations === other.metadata.annotations || settingsOf(one) === settingsOf(other);

/** Runs a simulated kubelet for each Node object. */
export const createKubelets = ({ apiServer, env, delays, graceMs }: KubeletsOptions): Controller => {
  const { clock, random, log } = env;
  const informers = createInformers(apiServer, clock);
  const recorder = createEventRecorder(apiServer, clock, 'kubelet');
  const kubelets = new Map<string, Kubelet>();
  /** Pods bound to nodes that don't have a kubelet yet. */
  const unclaimedPods = new Map<string, Map<string, StoredPod>>();
  const renewalMs = Math.max(Math.min(RENEWAL_MS, graceMs / 3), graceMs / RENEWALS_IN_GRACE);
  let count = 0;

  /** API errors are only logged: the next heartbeat retries. */
  const attempt = (what: string, name: string, act: (kubelet: Kubelet) => void): void => {
    const kubelet = kubelets.get(name);
    if (!kubelet) return;
    try {
      act(kubelet);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      log.debug(`kubelet could not ${what}`, { node: name, error });
    }
  };

  const renewals = createTimerQueue(clock, (name) => {
    if (!kubelets.get(name)?.online) return;
    attempt('renew its lease', name, (kubelet) => kubelet.renewLease());
    renewals.set(name, clock.now() + renewalMs);
  });
  const reports = createTimerQueue(clock, (name) => {
    if (!kubelets.get(name)?.online) return;
    attempt('post its status', name, (kubelet) => kubelet.postStatus());
    reports.set(name, clock.now() + STATUS_MS);
  });
  const connections = createTimerQueue(clock, (name) => {
    const kubelet = kubelets.get(name);
    if (!kubelet || kubelet.online || isOffline(kubelet.node)) return;
    attempt('connect', name, (one) => one.connect());
    if (!kubelet.online) connections.set(name, clock.now() + RETRY_MS);
    // Jittered, so that nodes that start together don't send heartbeats together.
    renewals.set(name, clock.now() + renewalMs * (0.5 + random() / 2));
    reports.set(name, clock.now() + STATUS_MS * (0.5 + random()));
  });

  const warn = (node: StoredNode): void => {
    const value = node.metadata.annotations?.[POWER];
    if (value === undefined || value === OFFLINE || toBehaviour(value)) return;
    const message = `${POWER}=${value} is not known: use one of ${[OFFLINE, ...behaviours].join(', ')}`;
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
    const kubelet = kubelets.get(name);
    if (type === 'DELETED') {
      kubelet?.disconnect();
      kubelets.delete(name);
      // For a node that is created again under the same name.
      unclaimedPods.set(name, new Map([...(kubelet?.pods() ?? [])].map((pod) => [pod.metadata.uid, pod])));
      return;
    }
    if (!kubelet) {
      const leaseSeconds = Math.max(1, Math.floor((graceMs / 1000) * 0.8));
      const made = createKubelet(object, { apiServer, clock, recorder, delays, leaseSeconds, index: count });
      count += 1;
      kubelets.set(name, made);
      for (const pod of unclaimedPods.get(name)?.values() ?? []) made.syncPod(pod);
      unclaimedPods.delete(name);
      if (!isOffline(object)) connections.set(name, clock.now());
      warn(object);
      return;
    }
    kubelet.node = object;
    const settingsChanged = previous !== undefined && !hasSameSettings(previous, object);
    if (isOffline(object)) {
      if (kubelet.online) kubelet.disconnect();
    } else if (!kubelet.online) {
      if (previous && isOffline(previous)) connections.set(name, clock.now() + RECONNECT_MS * (1 + random()));
    } else if (settingsChanged) kubelet.syncAllPods();
    if (settingsChanged) warn(object);
  });

  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const node = object.spec?.nodeName;
    if (!node) return;
    const { uid } = object.metadata;
    const kubelet = kubelets.get(node);
    if (type === 'DELETED') {
      kubelet?.removePod(uid);
      unclaimedPods.get(node)?.delete(uid);
    } else if (kubelet) kubelet.syncPod(object);
    else {
      const waiting = unclaimedPods.get(node) ?? new Map<string, StoredPod>();
      waiting.set(uid, object);
      unclaimedPods.set(node, waiting);
    }
  });
  return informers;
};
