import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { compareVersions, createReflector, type KubeClient, keyOf, pods, type Reflector } from '../../kube/index.ts';
import { type Env, sleep } from '../../runtime/index.ts';
import { createStateFile, type StateFiles } from '../storage/state-file.ts';
import type { PodRef } from '../types.ts';
import { type ApiConnection, createApiConnection } from './api-connection.ts';
import { createCacheAge, type SavedCacheAge, TICK_MS } from './cache-age.ts';
import { sanitizePod } from './sanitize.ts';

export interface PodCacheOptions {
  client: Pick<KubeClient, 'list' | 'watch'>;
  env: Env;
  /** Only pods that are bound to it are seen. */
  node: string;
  /** One watch for each; all namespaces with one watch when left out. */
  namespaces?: readonly string[];
  /** Holds the copy that answers after a restart without a network; made when it is not there. */
  dir: string;
  /** Default: the machine's own. */
  files?: StateFiles | undefined;
}

/** The pods of this node, in memory and on disk, as they may be shown (see `sanitizePod`). */
export interface PodCache {
  /** Watches until `signal` aborts, then writes what waits. To be called once. */
  run(signal: AbortSignal): Promise<void>;
  list(): readonly Pod[];
  get(ref: PodRef): Pod | undefined;
  /** How far the cache is; empty before it ever was. */
  readonly resourceVersion: string;
  /** Since the API server was heard of last; never less than the truth, 2^31 when that cannot be known. */
  ageSeconds(): number;
  /** The pods are those of the server, and the watches live. */
  connected(): boolean;
  since(): number;
  lastContact(): number | undefined;
  /** What other calls of this agent find out of the link. */
  readonly connection: Pick<ApiConnection, 'answered' | 'unanswered'>;
  /** Told of every change of a pod and of `connected`. Returns how to end it. */
  onChange(listener: () => void): () => void;
}

const FIRST_PROBE_MS = 1_000;
const LONGEST_PROBE_MS = 30_000;
const PROBE_TIMEOUT_MS = 4_000;

/** Of another form than this code writes, a file is of an older or newer agent, and says nothing to it. */
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
    // The digest has vouched for the rest: this is what this code wrote, maybe under another node's name.
    const read = value as Partial<Snapshot> | null;
    const { resourceVersion, contact, items } = read ?? {};
    if (read?.format !== FORMAT || read.node !== node || !Array.isArray(items) || typeof resourceVersion !== 'string')
      return undefined;
    if (typeof contact?.at !== 'number' || typeof contact.savedAt !== 'number') return undefined;
    return { format: FORMAT, node, resourceVersion, contact, items };
  };

/** Reads the copy on disk at once. */
export const createPodCache = ({ client, env, node, namespaces, dir, files }: PodCacheOptions): PodCache => {
  const kind = { dir, name: 'pods.json', env, parse: parseSnapshot(node) };
  const file = createStateFile<Snapshot>({ ...kind, ...(files && { files }) });
  const kept = file.initial;
  const contact = createCacheAge(env.clock, kept?.contact);
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const connection = createApiConnection(env.clock, changed, () => contact.reset());
  let running: AbortSignal | undefined;
  let probing = false;

  /** A link that was silent once may have healed long before its watches have anything to tell. */
  const probe = async (signal: AbortSignal): Promise<void> => {
    for (
      let delay = FIRST_PROBE_MS;
      connection.unresponsive && !signal.aborted;
      delay = Math.min(LONGEST_PROBE_MS, 2 * delay)
    ) {
      await sleep(env.clock, delay, signal);
      if (!connection.unresponsive) return;
      const one = {
        fieldSelector: `spec.nodeName=${node}`,
        limit: 1,
        resourceVersion: '0',
        timeoutMs: PROBE_TIMEOUT_MS,
      };
      const scope = namespaces?.[0];
      await client.list(pods, { ...one, signal, ...(scope === undefined ? {} : { namespace: scope }) }).then(
        () => connection.answered(),
        (error: unknown) => env.log.debug('the API server does not answer', { error }),
      );
    }
  };
  const onSilence = (): void => {
    connection.unanswered();
    if (probing || !running) return;
    probing = true;
    probe(running)
      .catch(() => undefined)
      .finally(() => {
        probing = false;
      });
  };

  let stale: Map<string, Pod> | undefined = new Map((kept?.items ?? []).map((pod) => [keyOf(pod), pod]));

  const snapshot = (): Snapshot => ({
    format: FORMAT,
    node,
    resourceVersion: newest(),
    contact: contact.saved() ?? { at: env.clock.now(), savedAt: env.clock.now() },
    items: list(),
  });
  const onEvent = (): void => {
    if (stale) return;
    file.save(snapshot);
    changed();
  };
  /** Only what every watch has told of takes the place of what was on disk: a part of it would hide pods. */
  const onSynced = (scope: string): void => {
    unsynced.delete(scope);
    if (unsynced.size > 0) return;
    if (stale) file.save(snapshot);
    stale = undefined;
    changed();
  };

  const scopes = namespaces ?? [''];
  const unsynced = new Set(scopes);
  const reflectors: Reflector<Pod>[] = scopes.map((namespace) =>
    createReflector<Pod, Pod>({
      client: connection.observe(namespace, client),
      env,
      resource: pods,
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `spec.nodeName=${node}`,
      project: sanitizePod,
      handlers: [{ upsert: onEvent, remove: onEvent, synced: () => onSynced(namespace) }],
    }),
  );

  const list = (): Pod[] =>
    stale ? [...stale.values()] : reflectors.flatMap((reflector) => [...reflector.store.values()]);

  const newest = (): string => {
    if (stale) return kept?.resourceVersion ?? '';
    return reflectors
      .map((reflector) => reflector.resourceVersion ?? '')
      .reduce((a, b) => ((compareVersions(b, a) ?? 0) > 0 ? b : a));
  };

  return {
    async run(signal) {
      let ticking = env.clock.timer(TICK_MS, function tick() {
        if (contact.tick()) file.save(snapshot);
        ticking = env.clock.timer(TICK_MS, tick);
      });
      running = signal;
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
      ticking.cancel();
      // So that a clock that is set back while the device is off is seen.
      if (contact.saved() !== undefined) file.save(snapshot);
      await file.flush().catch((error: unknown) => env.log.error('the copy of the pods was not written', { error }));
    },
    list,
    get(ref) {
      const key = `${ref.namespace}/${ref.name}`;
      if (stale) return stale.get(key);
      for (const reflector of reflectors) {
        const pod = reflector.store.get(key);
        if (pod) return pod;
      }
      return undefined;
    },
    get resourceVersion() {
      return newest();
    },
    ageSeconds: () => contact.ageSeconds(),
    connected: () => !stale && connection.connected,
    since: () => connection.since,
    lastContact: () => contact.lastContactAt(),
    connection: { answered: () => connection.answered(), unanswered: onSilence },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
