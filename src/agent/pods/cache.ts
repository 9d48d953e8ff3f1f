import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  compareVersions,
  createReflector,
  isKubeError,
  type KubeClient,
  keyOf,
  metadataOf,
  pods,
  type Reflector,
} from '../../kube/index.ts';
import { type Env, sleep } from '../../runtime/index.ts';
import { createListeners } from '../listeners.ts';
import { createProjector, type Kept } from '../projector.ts';
import { createStateFile, type StateFiles } from '../storage/index.ts';
import type { Troubles } from '../troubles.ts';
import type { PodRef } from '../types.ts';
import { type ApiConnection, createApiConnection } from './api-connection.ts';
import { createCacheAge, type SavedCacheAge, TICK_MS } from './cache-age.ts';
import { sanitizePod } from './sanitize.ts';
import { unreadablePod } from './unreadable.ts';

export interface PodCacheOptions {
  client: Pick<KubeClient, 'list' | 'watch'>;
  env: Env;
  /** Only pods bound to this node are cached. */
  node: string;
  /** One watch per namespace. Default: one watch for all namespaces. */
  namespaces?: readonly string[];
  /** For the copy on disk, which is used after a restart without a network; created if missing. */
  dir: string;
  /** Default: the machine's file system. */
  files?: StateFiles | undefined;
  /** Where pods that cannot be read are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
}

/**
 * The sanitized pods of this node (see `sanitizePod`), in memory and on disk. In the place of one that cannot be read is an
 * `unreadablePod`.
 */
export interface PodCache {
  /** Watches until `signal` aborts, then writes pending changes. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  list(): readonly Pod[];
  get(ref: PodRef): Pod | undefined;
  /** Of the last change in the cache; empty before the first list. */
  readonly resourceVersion: string;
  /** Upper bound of the time since the last contact with the API server; 2^31 if unknown. */
  ageSeconds(): number;
  /** The cache is synced and all watches are alive. */
  connected(): boolean;
  /** When `connected` last changed, epoch milliseconds. */
  connectedSince(): number;
  lastContact(): number | undefined;
  /** Other parts of the agent report here what their calls say about the connection. */
  readonly connection: Pick<ApiConnection, 'answered' | 'failed'>;
  /** Called after every change of a pod and of `connected`. Returns the function to unsubscribe. */
  onChange(listener: () => void): () => void;
}

const FIRST_PROBE_MS = 1_000;
const LONGEST_PROBE_MS = 30_000;
/** A slow link needs this long to connect and respond. */
const PROBE_TIMEOUT_MS = 15_000;

/** A file with another format was written by another version of the agent and is ignored. */
const FORMAT = 1;

interface Snapshot {
  format: typeof FORMAT;
  node: string;
  resourceVersion: string;
  contact: SavedCacheAge;
  items: Pod[];
}

const parseSnapshot =
  (node: string) =>
  (value: unknown): Snapshot | undefined => {
    // The digest guarantees the rest: this code wrote the file, but maybe for another node.
    const read = value as Partial<Snapshot> | null;
    const { resourceVersion, contact, items } = read ?? {};
    if (read?.format !== FORMAT || read.node !== node || !Array.isArray(items) || typeof resourceVersion !== 'string')
      return undefined;
    if (typeof contact?.at !== 'number' || typeof contact.savedAt !== 'number') return undefined;
    return { format: FORMAT, node, resourceVersion, contact, items };
  };

/** Reads the copy on disk synchronously. */
export const createPodCache = (options: PodCacheOptions): PodCache => {
  const { client, env, node, namespaces, dir, files, troubles } = options;
  const kind = { dir, name: 'pods.json', env, parse: parseSnapshot(node) };
  const file = createStateFile<Snapshot>({ ...kind, ...(files && { files }) });
  const saved = file.initial;
  const age = createCacheAge(env.clock, saved?.contact);
  const listeners = createListeners(env.log, 'the pod cache');
  const changed = (): void => listeners.notify();
  const connection = createApiConnection(env.clock, changed, () => age.reset());
  let running: AbortSignal | undefined;
  let probing = false;

  /**
   * After a call without response: it may have been given up before a slow link could answer, and a lost link may recover long
   * before the watches deliver an event.
   */
  const probe = async (signal: AbortSignal): Promise<void> => {
    for (let delay = FIRST_PROBE_MS; ; delay = Math.min(LONGEST_PROBE_MS, 2 * delay)) {
      await sleep(env.clock, delay, signal);
      const sentAt = env.clock.now();
      const one = {
        fieldSelector: `spec.nodeName=${node}`,
        limit: 1,
        resourceVersion: '0',
        timeoutMs: PROBE_TIMEOUT_MS,
      };
      const namespace = namespaces?.[0];
      await client.list(metadataOf(pods), { ...one, signal, ...(namespace === undefined ? {} : { namespace }) }).then(
        () => connection.answered(),
        (error: unknown) => {
          connection.failed(error, sentAt);
          env.log.debug('the API server does not respond', { error });
        },
      );
      if (!connection.unresponsive) return;
    }
  };
  const onFailed = (cause: unknown, sentAt: number): void => {
    connection.failed(cause, sentAt);
    const isAnswered = isKubeError(cause) && cause.status > 0;
    if (isAnswered || probing || !running) return;
    probing = true;
    probe(running)
      .catch(() => undefined)
      .finally(() => {
        probing = false;
      });
  };

  let fromDisk: Map<string, Pod> | undefined = new Map((saved?.items ?? []).map((pod) => [keyOf(pod), pod]));

  const snapshot = (): Snapshot => ({
    format: FORMAT,
    node,
    resourceVersion: latestVersion(),
    contact: age.saved() ?? { at: env.clock.now(), savedAt: env.clock.now() },
    items: list(),
  });
  const onEvent = (): void => {
    if (fromDisk) return;
    file.save(snapshot);
    changed();
  };
  const projector = createProjector<Pod, Pod>({
    env,
    project: sanitizePod,
    onFailure: (key, pod, error, known) => unreadablePod(pod, troubles.report('pod', key, error), known),
    onSuccess(key, healed) {
      troubles.clear('pod', key);
      if (healed) onEvent();
    },
  });
  /** Replaces the copy from disk only once every watch is synced: a partial list would hide pods. */
  const onSynced = (namespace: string): void => {
    unsynced.delete(namespace);
    if (unsynced.size > 0) return;
    if (fromDisk) file.save(snapshot);
    fromDisk = undefined;
    changed();
  };

  const watched = namespaces ?? [''];
  const unsynced = new Set(watched);
  const onRemove = (key: string): void => {
    projector.forget(key);
    onEvent();
  };
  const reflectors: Reflector<Kept<Pod>>[] = watched.map((namespace) =>
    createReflector<Pod, Kept<Pod>>({
      client: connection.observe(namespace, client),
      env,
      resource: pods,
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `spec.nodeName=${node}`,
      project: (pod, known) => projector.project(keyOf(pod), pod, known),
      handlers: [{ upsert: onEvent, remove: onRemove, synced: () => onSynced(namespace) }],
    }),
  );

  const list = (): Pod[] =>
    fromDisk
      ? [...fromDisk.values()]
      : reflectors.flatMap((reflector) => [...reflector.store.values()].map(({ value }) => value));

  const latestVersion = (): string => {
    if (fromDisk) return saved?.resourceVersion ?? '';
    return reflectors
      .map((reflector) => reflector.resourceVersion ?? '')
      .reduce((a, b) => ((compareVersions(b, a) ?? 0) > 0 ? b : a));
  };

  return {
    async run(signal) {
      let ticking = env.clock.timer(TICK_MS, function tick() {
        if (age.tick()) file.save(snapshot);
        ticking = env.clock.timer(TICK_MS, tick);
      });
      running = signal;
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
      ticking.cancel();
      projector.stop();
      // So that the next start notices a clock that is set back while the device is off.
      if (age.saved() !== undefined) file.save(snapshot);
      await file.flush().catch((error: unknown) => env.log.error('failed to save the pod cache', { error }));
    },
    list,
    get(ref) {
      const key = `${ref.namespace}/${ref.name}`;
      if (fromDisk) return fromDisk.get(key);
      for (const reflector of reflectors) {
        const kept = reflector.store.get(key);
        if (kept) return kept.value;
      }
      return undefined;
    },
    get resourceVersion() {
      return latestVersion();
    },
    ageSeconds: () => age.ageSeconds(),
    connected: () => !fromDisk && connection.connected,
    connectedSince: () => connection.since,
    lastContact: () => age.lastContactAt(),
    connection: { answered: () => connection.answered(), failed: onFailed },
    onChange: (listener) => listeners.add(listener),
  };
};
