import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, type EventRecorder, type KubeClient } from '../kube/index.ts';
import { imageReadyOf, recordedTemplate, toTimestamp } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { actsAt, type Deadline, type DecisionStore, deadlineShare, nextStep, type Step } from './decisions/index.ts';
import {
  createAgentEvents,
  createDecide,
  createExecutor,
  createLiveReads,
  createMutex,
  createPodControl,
  createReconciler,
  createYurtHubApi,
  updateOf,
} from './executor/index.ts';
import type { ImagePulls } from './images/index.ts';
import { createPodCache, type StateFiles } from './pods/index.ts';
import type { SafeCheck } from './safe-check/index.ts';
import type { AgentBackend, Caller } from './types.ts';
import {
  announcementOf,
  createUpdateTracker,
  daemonSetOf,
  imageBlockOf,
  isOffered,
  isTerminating,
  type Terms,
  type TrackedUpdate,
} from './updates/index.ts';

export interface AgentOptions {
  client: KubeClient;
  env: Env;
  /** Its `run` is the caller's. */
  events: Pick<EventRecorder, 'event'>;
  /** The Node that this process runs on: no other node's pods are ever acted on. */
  node: string;
  /** Holds what must be known without a network. */
  stateDir: string;
  /** What the state is kept with. Default: the machine's own file system. */
  stateFiles?: StateFiles;
  /** Of the device: windows are in its local time. */
  timeZone: string;
  /** By how much this device's clock is ahead of the API server's: a deadline is by that one. Default: not at all. */
  aheadMs?: () => number;
  /** Only pods of these are seen and updated. Default: of all. */
  namespaces?: readonly string[];
  safe: SafeCheck;
  /** Its `run` is the caller's. */
  images: ImagePulls;
  /** Its `close` is the caller's. */
  decisions: DecisionStore;
}

export type Agent = AgentBackend & {
  /** Watches and carries out until `signal` aborts, then writes what waits. To be called once. */
  run(signal: AbortSignal): Promise<void>;
};

const READ_TIMEOUT_MS = 10_000;
const SELF: Caller = { identity: 'agent', via: 'agent' };

/** Puts the parts of the agent together. It answers at once, from what was kept on the disk. */
export const createAgent = (options: AgentOptions): Agent => {
  const {
    client,
    env,
    node,
    stateDir: dir,
    stateFiles: files,
    timeZone,
    namespaces,
    safe,
    images,
    decisions,
  } = options;
  const cache = createPodCache({ client, env, node, dir, files, ...(namespaces && { namespaces }) });
  const tracker = createUpdateTracker({ client, env, cache, dir, files });
  const events = createAgentEvents(options.events, cache, node);
  const mutex = createMutex(env.clock);
  const liveReads = createLiveReads({
    client,
    env,
    node,
    connection: cache.connection,
    ...(namespaces && { namespaces }),
  });
  const podControl = createPodControl({ client, env, connection: cache.connection });
  const executor = createExecutor({ env, decisions, tracker, liveReads, podControl, safe, mutex, events });

  const listeners = new Set<() => void>();
  let telling = false;
  const changed = (): void => {
    if (telling) return;
    telling = true;
    // What comes together is told once.
    queueMicrotask(() => {
      telling = false;
      for (const listener of listeners) listener();
    });
  };

  const deadlineOf = ({ record }: TrackedUpdate, terms = record.terms): Deadline | undefined => {
    const { announced } = record;
    if (!terms?.deadline || !isOffered(announced)) return undefined;
    return { ...terms.deadline, share: deadlineShare({ ...record, node, revision: announced.revision }) };
  };

  const stepOf = (tracked: TrackedUpdate): Step => {
    const { pod, record } = tracked;
    const announced = pod && !isTerminating(pod) ? announcementOf(pod) : undefined;
    if (!pod || !announced || record.episode) return { kind: 'none' };
    return nextStep({
      now: env.clock.now(),
      timeZone,
      connected: cache.connected(),
      announced,
      imageBlocks: imageBlockOf(pod, announced.revision),
      decision: decisions.current(record),
      deadline: dueHere(tracked),
      safeConfigured: safe.configured,
    });
  };

  /** By this device's clock, which may be wrong: the deadline is the administrator's. */
  const dueHere = (tracked: TrackedUpdate, terms?: Terms): Deadline | undefined => {
    const deadline = deadlineOf(tracked, terms);
    return deadline && { ...deadline, at: deadline.at + (options.aheadMs?.() ?? 0) };
  };

  const isDue = (tracked: TrackedUpdate, terms: Terms): boolean => {
    const deadline = dueHere(tracked, terms);
    return deadline !== undefined && env.clock.now() >= actsAt(deadline);
  };

  const stopped = new AbortController();
  const engine = createReconciler({
    env,
    cache,
    tracker,
    decisions,
    executor,
    liveReads,
    mutex,
    events,
    stepOf,
    isDue,
    changed,
    refreshImages: (tracked) => pullStale(tracked),
  });
  const compatible = createYurtHubApi({
    client,
    env,
    node,
    cache,
    decisions,
    tracker,
    liveReads,
    executor,
    images,
    events,
    triggerReconcile: () => engine.trigger(),
    signal: () => stopped.signal,
  });

  const asked = new Set<string>();
  /** Images that were asked for stand for another revision: the owner wants the new one's, and nobody else asks again. */
  const pullStale = ({ pod, record: { announced } }: TrackedUpdate): void => {
    const key = `${pod?.metadata?.uid}/${announced.revision}`;
    if (!pod || asked.has(key) || imageReadyOf(pod)?.revision === announced.revision) return;
    asked.add(key);
    const ref = { namespace: pod.metadata?.namespace ?? '', name: pod.metadata?.name ?? '' };
    const ask = async (): Promise<void> => {
      const { status, text } = await compatible.imagePull(ref, SELF);
      if (status === 200) return;
      asked.delete(key);
      env.log.warn('the images of a revision that was decided on could not be asked for', { text });
    };
    ask().catch((error: unknown) => {
      asked.delete(key);
      if (!stopped.signal.aborted) env.log.error('asking for images failed', { error });
    });
  };

  const targetOf = async (pod: Pod, hash: string): Promise<{ hash: string; template: PodTemplateSpec } | undefined> => {
    const owner = daemonSetOf(pod);
    if (!owner || !cache.connected()) return undefined;
    const at = { namespace: owner.namespace, name: `${owner.daemonSet}-${hash}` };
    const call = { signal: stopped.signal, timeoutMs: READ_TIMEOUT_MS };
    const template = recordedTemplate(await client.get(controllerRevisions, at, call));
    return template && { hash, template };
  };

  return {
    ...compatible,
    decide: createDecide({ env, decisions, tracker, safe, events }),
    pods: () => ({ items: cache.list(), resourceVersion: cache.resourceVersion, ageSeconds: cache.ageSeconds() }),
    updates: () =>
      tracker.all().map((tracked) => {
        const deadline = deadlineOf(tracked);
        return updateOf({
          tracked,
          decision: decisions.current(tracked.record),
          step: stepOf(tracked),
          lastRefusal: engine.lastRefusalOf(tracked),
          deadline: deadline && { at: deadline.at, actsAt: actsAt(deadline) },
          images,
          now: env.clock.now(),
        });
      }),
    history: () => decisions.history(),
    device() {
      const lastContact = cache.lastContact();
      return {
        node,
        now: toTimestamp(env.clock.now()),
        timeZone,
        connected: cache.connected(),
        since: toTimestamp(cache.since()),
        lastContact: lastContact === undefined ? null : toTimestamp(lastContact),
        safe: { configured: safe.configured, ...safe.last },
        disk: { trouble: decisions.trouble ?? null, damage: decisions.damage ?? null },
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(signal) {
      const onAbort = (): void => stopped.abort(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      const follow = (): void => images.follow(cache.list(), targetOf);
      const offs = [
        cache.onChange(follow),
        cache.onChange(changed),
        tracker.onChange(changed),
        decisions.onChange(changed),
      ];
      await Promise.all([cache.run(signal), tracker.run(signal), engine.run(signal)]);
      for (const off of offs) off();
      events.stop();
      signal.removeEventListener('abort', onAbort);
    },
  };
};
