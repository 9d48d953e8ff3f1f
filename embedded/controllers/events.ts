import type { KubeObject } from '../../src/kube/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import { events, type Stored, toTime } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { type Controller, createInformers, type InformerEvent } from './informers.ts';
import { createTimerQueue } from './timer-queue.ts';

/** The object in the form of an Event's involvedObject. */
export const involvedObject = (object: {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; uid: string; namespace?: string; resourceVersion?: string };
}): InvolvedObject => ({
  apiVersion: object.apiVersion ?? '',
  kind: object.kind ?? '',
  metadata: object.metadata,
});

/** The object that an Event is about. */
export interface InvolvedObject extends KubeObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; uid: string; namespace?: string; resourceVersion?: string };
}

export interface EventSource {
  /** The container, as in `spec.containers{app}`. */
  fieldPath?: string;
  /** The reporting node. */
  host?: string;
}

export interface EventRecorder {
  record(
    subject: InvolvedObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    where?: EventSource,
  ): void;
}

// The spam filter of client-go's recorder: per object and component a burst of Events, then one per interval.
const BURST = 25;
const REFILL_MS = 300_000;
/** The size of each of the recorder's caches. */
const REMEMBERED = 4096;

interface Known {
  name: string;
  count: number;
}
interface Bucket {
  tokens: number;
  filledAt: number;
}

const remember = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
};

const SILENT: EventRecorder = { record: () => undefined };
const silent = new WeakSet<ApiServer>();

/** Disables Events for all controllers that are created for this API server from now on. */
export const disableEvents = (apiServer: ApiServer): void => void silent.add(apiServer);

/** Writes core/v1 Events as client-go does: a repeated Event raises the count. A rejected Event is dropped. */
export const createEventRecorder = (apiServer: ApiServer, clock: Clock, component: string): EventRecorder => {
  if (silent.has(apiServer)) return SILENT;
  const known = new Map<string, Known>();
  const buckets = new Map<string, Bucket>();
  let serial = 0;

  const allow = (key: string): boolean => {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: BURST, filledAt: now };
    const earned = Math.floor((now - bucket.filledAt) / REFILL_MS);
    bucket.tokens = Math.min(BURST, bucket.tokens + earned);
    bucket.filledAt += earned * REFILL_MS;
    remember(buckets, key, bucket);
    if (bucket.tokens === 0) return false;
    bucket.tokens -= 1;
    return true;
  };
  const write = (attempt: () => void): void => {
    try {
      attempt();
    } catch {
      // Recording an Event must never fail its caller: the namespace may be terminating.
    }
  };

  return {
    record(subject, type, reason, message, { fieldPath, host } = {}) {
      const { name, uid, namespace = 'default', resourceVersion } = subject.metadata;
      if (!allow(uid)) return;
      const key = `${uid} ${type} ${reason} ${fieldPath} ${message}`;
      const time = toTime(clock.now());
      const before = known.get(key);
      if (before && apiServer.find(events, { namespace, name: before.name })) {
        before.count += 1;
        const body = { count: before.count, lastTimestamp: time };
        write(() => apiServer.patch(events, { namespace, name: before.name }, body, { type: 'merge' }));
        return;
      }
      serial += 1;
      const stamp = (BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(serial)).toString(16);
      const event = { name: `${name}.${stamp}`, count: 1 };
      remember(known, key, event);
      write(() =>
        apiServer.create<object>(events, {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: event.name, namespace },
          involvedObject: {
            kind: subject.kind,
            apiVersion: subject.apiVersion,
            name,
            uid,
            ...(subject.metadata.namespace && { namespace }),
            ...(resourceVersion && { resourceVersion }),
            ...(fieldPath && { fieldPath }),
          },
          reason,
          message,
          source: { component, ...(host !== undefined && { host }) },
          type,
          count: 1,
          firstTimestamp: time,
          lastTimestamp: time,
          eventTime: null,
          reportingComponent: component,
          reportingInstance: host ?? '',
        }),
      );
    },
  };
};

const LIFETIME_MS = 3_600_000;

/** Deletes each Event an hour after its last update, the default TTL of the real API server. */
export const createEventTtlController = (apiServer: ApiServer, clock: Clock): Controller => {
  const informers = createInformers(apiServer, clock);
  const timers = createTimerQueue(clock, (key) => {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    if (apiServer.find(events, ref)) apiServer.delete(events, ref);
  });
  informers.addHandler(events, ({ type, object: { metadata } }: InformerEvent<Stored<object>>) => {
    const key = `${metadata.namespace}/${metadata.name}`;
    if (type === 'DELETED') timers.delete(key);
    else timers.set(key, clock.now() + LIFETIME_MS);
  });
  return informers;
};
