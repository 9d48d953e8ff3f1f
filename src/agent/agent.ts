import type { EventRecorder, KubeClient } from '../kube/index.ts';
import { toTimestamp } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createSteps, type DecisionStore } from './decisions/index.ts';
import {
  choicesOf,
  createAcceptDecision,
  createAgentEvents,
  createExecutor,
  createImageRequests,
  createLiveReads,
  createMutex,
  createPodControl,
  createReconciler,
  createYurtHubApi,
  imagesHere,
  nameOf,
  notComputableText,
  type Restriction,
  unknownUpdateOf,
  updateOf,
} from './executor/index.ts';
import { createListeners } from './listeners.ts';
import { createOwnNode } from './own-node.ts';
import { createPodCache } from './pods/index.ts';
import type { SafeCheck } from './safe-check/index.ts';
import type { StateFiles } from './storage/index.ts';
import { createTroubles, type Troubles } from './troubles.ts';
import type { AgentBackend, Update } from './types.ts';
import { createUpdateTracker, refKey, type TrackedUpdate } from './updates/index.ts';

export interface AgentOptions {
  client: KubeClient;
  env: Env;
  /** The caller runs it. */
  events: Pick<EventRecorder, 'event'>;
  /** The Node that this process runs on. The agent never updates pods of other nodes. */
  node: string;
  /** For state that must be available offline. */
  stateDir: string;
  /** Default: the machine's file system. */
  stateFiles?: StateFiles;
  /** The device's time zone, in which windows are. */
  timeZone: string;
  /** How far this device's clock is ahead of the API server's, whose clock decides about deadlines. Default: 0. */
  aheadMs?: () => number;
  /** Only pods of these namespaces are shown and updated. Default: all. */
  namespaces?: readonly string[];
  safe: SafeCheck;
  /** Proves that a policy restricts the credentials. Default: nothing is checked. */
  restriction?: Restriction;
  /** Read the Node: the device's name, its administrator and the sizes of images. Default: they are unknown. */
  readNode?: boolean;
  /** The caller closes it. */
  decisions: DecisionStore;
}

export type Agent = AgentBackend & {
  /** What cannot be computed at present. */
  readonly troubles: Pick<Troubles, 'all'>;
  /** Watches pods and carries out decisions until `signal` aborts, then saves pending state. Call it once. */
  run(signal: AbortSignal): Promise<void>;
};

const PROVE_MS = 30_000;

/** Assembles the agent. It answers at once, from its state on disk. */
export const createAgent = (options: AgentOptions): Agent => {
  const { client, env, node, stateDir: dir, stateFiles: files, timeZone, safe, restriction, decisions } = options;
  const namespaces = options.namespaces && { namespaces: options.namespaces };
  const stopped = new AbortController();
  const { signal } = stopped;
  const troubles = createTroubles(env.log);
  const cache = createPodCache({ client, env, node, dir, files, troubles, ...namespaces });
  const { connection } = cache;
  const tracker = createUpdateTracker({ client, env, cache, dir, files, troubles });
  const events = createAgentEvents(options.events, cache, node);
  troubles.onReport(({ owner, part, message }) => {
    if (owner) events.record(owner, 'UpdateNotComputable', `${part} ${message}`, `${notComputableText(message)}.`);
  });
  const mutex = createMutex(env.clock);
  const liveReads = createLiveReads({ client, env, node, connection, ...namespaces });
  const podControl = createPodControl({ client, env, connection });
  const aheadMs = options.aheadMs ?? (() => 0);
  const steps = createSteps({ env, node, timeZone, aheadMs, cache, decisions, safe });

  const choicesFor = (tracked: TrackedUpdate): Update['choices'] =>
    choicesOf(
      { tracked, decision: decisions.current(tracked.record), deadline: steps.deadlineOf(tracked) },
      steps.tonightOf(tracked),
    );

  /** The update as its owner sees it, or why it cannot be computed. */
  const viewOf = (tracked: TrackedUpdate): { update: Update } | { problem: string } => {
    const { record, problem } = tracked;
    if (problem !== undefined) return { problem };
    try {
      const update = updateOf({
        tracked,
        decision: decisions.current(record),
        step: steps.next(tracked),
        lastRefusal: reconciler.lastRefusalOf(tracked),
        deadline: steps.deadlineOf(tracked),
        choices: choicesFor(tracked),
        sizes: ownNode.sizes,
        now: env.clock.now(),
      });
      troubles.clear('view', refKey(record));
      return { update };
    } catch (error) {
      return { problem: troubles.report('view', refKey(record), error, record) };
    }
  };
  /** What is gone is no trouble any more. */
  const forgetTroubles = (): void => {
    for (const part of ['view', 'step'] as const)
      troubles.keep(part, (of) => tracker.all().some(({ record }) => refKey(record) === of));
    troubles.keep('check', (of) => cache.list().some((pod) => nameOf(pod) === of));
  };

  const executor = createExecutor({
    env,
    decisions,
    tracker,
    liveReads,
    podControl,
    restriction,
    safe,
    mutex,
    events,
    troubles,
    // What its owner cannot be shown is not updated either.
    problemOf(ref) {
      const tracked = tracker.get(ref);
      const view = tracked && viewOf(tracked);
      return view && 'problem' in view ? view.problem : undefined;
    },
  });
  const imageRequests = createImageRequests({
    client,
    env,
    liveReads,
    connection,
    troubles,
    retry: () => reconciler.trigger(),
    signal,
  });

  const listeners = createListeners(env.log, 'the agent');
  const changed = (): void => listeners.notify();

  const ownNode = createOwnNode({
    client,
    env,
    node,
    enabled: options.readNode ?? false,
    dir,
    files,
    connected: () => cache.connected(),
    wanted: () => tracker.all().flatMap((tracked) => Object.values(imagesHere(tracked)).flat()),
    onChange: changed,
    signal,
  });
  const reconciler = createReconciler({
    env,
    cache,
    tracker,
    decisions,
    executor,
    liveReads,
    mutex,
    events,
    steps,
    troubles,
    refreshImages: (tracked) => imageRequests.refresh(tracked),
    changed,
  });
  const yurtHub = createYurtHubApi({
    node,
    cache,
    decisions,
    tracker,
    executor,
    imageRequests,
    events,
    triggerReconcile: () => reconciler.trigger(),
    signal,
  });

  return {
    ...yurtHub,
    decide: createAcceptDecision({ decisions, tracker, safe, events, steps }),
    pods: () => ({ items: cache.list(), resourceVersion: cache.resourceVersion, ageSeconds: cache.ageSeconds() }),
    updates: () =>
      tracker.all().map((tracked) => {
        const view = viewOf(tracked);
        const problem = reconciler.problemOf(tracked) ?? ('problem' in view ? view.problem : undefined);
        return problem === undefined && 'update' in view
          ? view.update
          : unknownUpdateOf(tracked, decisions.current(tracked.record), choicesFor(tracked), problem ?? '');
      }),
    troubles,
    history: () => decisions.history(),
    device() {
      const lastContact = cache.lastContact();
      return {
        node,
        ...ownNode.names(),
        now: toTimestamp(env.clock.now()),
        timeZone,
        connected: cache.connected(),
        since: toTimestamp(cache.connectedSince()),
        lastContact: lastContact === undefined ? null : toTimestamp(lastContact),
        safe: { configured: safe.configured, ...safe.last },
        disk: { trouble: decisions.trouble ?? null, damage: decisions.damage ?? null },
      };
    },
    onChange: (listener) => listeners.add(listener),
    async run(until) {
      const onAbort = (): void => stopped.abort(until.reason);
      if (until.aborted) onAbort();
      else until.addEventListener('abort', onAbort, { once: true });
      let isProving = false;
      /** At the start, so that an administrator sees it before an owner decides. */
      const checkRestriction = async (): Promise<void> => {
        const [pod] = cache.list();
        if (!restriction || isProving || !pod || !cache.connected()) return;
        isProving = true;
        try {
          const refusal = await restriction.check(pod, { timeoutMs: PROVE_MS, signal });
          isProving = refusal?.code !== 'Disconnected';
        } catch (error) {
          isProving = false;
          if (!signal.aborted) env.log.error('failed to check what restricts this agent', { error });
        }
      };
      const unsubscribe = [
        cache.onChange(() => ownNode.refresh()),
        tracker.onChange(() => ownNode.refresh()),
        cache.onChange(() => void checkRestriction()),
        cache.onChange(changed),
        tracker.onChange(changed),
        tracker.onChange(forgetTroubles),
        decisions.onChange(changed),
      ];
      await Promise.all([cache.run(until), tracker.run(until), reconciler.run(until)]);
      for (const off of unsubscribe) off();
      await ownNode.flush().catch((error: unknown) => env.log.error('failed to save the names of the Node', { error }));
      events.stop();
      until.removeEventListener('abort', onAbort);
    },
  };
};
