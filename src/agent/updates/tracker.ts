import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { recordedTemplate } from '../../rollout/index.ts';
import { type BackoffOptions, backoffMs, type Env, sleep, untilAborted } from '../../runtime/index.ts';
import type { PodCache } from '../pods/index.ts';
import { createStateFile, type StateFiles } from '../storage/index.ts';
import type { DaemonSetRef } from '../types.ts';
import { daemonSetOf, imagesOf, isOffered, type Owner } from './announcement.ts';
import { currentPod, type Episode, nextRecord, refKey, type Terms, type UpdateRecord } from './record.ts';
import { releaseNotesOf } from './release-notes.ts';
import { createTermsWatch } from './terms-watch.ts';

export interface UpdateTrackerOptions {
  client: KubeClient;
  env: Env;
  cache: Pick<PodCache, 'list' | 'connected' | 'onChange'>;
  dir: string;
  /** Default: the machine's file system. */
  files?: StateFiles | undefined;
}

/** One DaemonSet of this node, with its current pod here. */
export interface TrackedUpdate {
  record: UpdateRecord;
  pod: Pod | undefined;
}

/** The updates of this node with their details, online and offline. */
export interface UpdateTracker {
  all(): readonly TrackedUpdate[];
  get(ref: DaemonSetRef): TrackedUpdate | undefined;
  setEpisode(ref: DaemonSetRef, episode: Episode | null): void;
  onChange(listener: () => void): () => void;
  /** Follows the pods, reads the details of new targets, and watches DaemonSets with a pending update, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** A file with another format was written by another version of the agent and is ignored. */
const FORMAT = 1;

interface Saved {
  format: typeof FORMAT;
  known: UpdateRecord[];
}

const READ_BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
/** The announcement can precede the ControllerRevision briefly; a revision that was cleaned up never appears. */
const MAX_MISSING_READS = 5;

const parseSaved = (value: unknown): Saved | undefined => {
  const read = value as Partial<Saved> | null;
  return read?.format === FORMAT && Array.isArray(read.known) ? { format: FORMAT, known: read.known } : undefined;
};

export const createUpdateTracker = ({ client, env, cache, dir, files }: UpdateTrackerOptions): UpdateTracker => {
  const kind = { dir, name: 'updates.json', env, parse: parseSaved };
  const file = createStateFile<Saved>({ ...kind, ...(files && { files }) });
  let tracked = new Map<string, TrackedUpdate>();
  const listeners = new Set<() => void>();
  const reading = new Map<string, { revision: string; failures: number; due: number }>();
  let signal: AbortSignal | undefined;

  const save = (): void =>
    file.save(() => ({ format: FORMAT, known: [...tracked.values()].map(({ record }) => record) }));
  const changed = (): void => {
    save();
    for (const listener of listeners) listener();
  };
  const put = (record: UpdateRecord): void => {
    const key = refKey(record);
    tracked.set(key, { record, pod: tracked.get(key)?.pod });
    changed();
  };

  const watch = createTermsWatch(client, env, (owner, terms) => onTerms(owner, terms));
  const onTerms = (owner: Owner, terms: Terms): void => {
    const record = tracked.get(refKey(owner))?.record;
    if (record?.uid === owner.uid && JSON.stringify(record.terms) !== JSON.stringify(terms)) put({ ...record, terms });
  };

  const readDetails = async (record: UpdateRecord, within: AbortSignal): Promise<void> => {
    const key = refKey(record);
    const { revision } = record.announced;
    const attempt = reading.get(key) ?? { revision, failures: 0, due: 0 };
    // Infinity: no second read while this one is pending.
    reading.set(key, { ...attempt, due: Number.POSITIVE_INFINITY });
    try {
      const read = await client.get(
        controllerRevisions,
        { namespace: record.namespace, name: `${record.daemonSet}-${revision}` },
        { signal: within },
      );
      reading.delete(key);
      const template: PodTemplateSpec | undefined = recordedTemplate(read);
      const now = tracked.get(key)?.record;
      if (now?.announced.revision !== revision) return;
      const publishedAt = read.metadata?.creationTimestamp ?? null;
      put({ ...now, details: { images: imagesOf(template?.spec), publishedAt, notes: releaseNotesOf(read) } });
    } catch (error) {
      if (within.aborted) return;
      const failures = attempt.failures + 1;
      const isFinal = isKubeError(error, 'NotFound', 'Forbidden') && failures >= MAX_MISSING_READS;
      const delay = backoffMs(failures, READ_BACKOFF, env.random);
      const due = isFinal ? Number.POSITIVE_INFINITY : env.clock.now() + delay;
      reading.set(key, { revision, failures, due });
      env.log.warn('failed to read the new revision', { daemonSet: key, revision, error });
      if (!isFinal) sleep(env.clock, delay, within).then(refresh, () => undefined);
    }
  };

  /** The details of a current pod are known from the pod, except publishedAt, which isn't worth a request. */
  const lacksDetails = ({ announced, details }: UpdateRecord): boolean => details === null && isOffered(announced);

  const readMissing = (within: AbortSignal): void => {
    for (const { record } of tracked.values()) {
      const key = refKey(record);
      if (reading.get(key)?.revision !== record.announced.revision) reading.delete(key);
      if (lacksDetails(record) && (reading.get(key)?.due ?? 0) <= env.clock.now()) void readDetails(record, within);
    }
  };

  const refresh = (): void => {
    const grouped = new Map<string, { owner: Owner; pods: Pod[] }>();
    for (const { record } of tracked.values()) grouped.set(refKey(record), { owner: record, pods: [] });
    for (const pod of cache.list()) {
      const owner = daemonSetOf(pod);
      if (!owner) continue;
      const group = grouped.get(refKey(owner));
      // If a DaemonSet was recreated with the same name, only the pods of the new one count.
      if (group && group.owner.uid === owner.uid) group.pods.push(pod);
      else if (!group || group.pods.length === 0) grouped.set(refKey(owner), { owner, pods: [pod] });
    }
    const next = new Map<string, TrackedUpdate>();
    for (const [key, { owner, pods }] of grouped) {
      const { namespace, daemonSet, apiVersion, uid } = owner;
      const record = nextRecord({ namespace, daemonSet, apiVersion, uid }, pods, tracked.get(key)?.record);
      if (record) next.set(key, { record, pod: currentPod(pods) });
    }
    const before = JSON.stringify([...tracked.values()].map(({ record }) => record));
    tracked = next;
    if (JSON.stringify([...tracked.values()].map(({ record }) => record)) !== before) save();
    if (signal && !signal.aborted) {
      if (cache.connected()) readMissing(signal);
      watch.follow([...tracked.values()].map(({ record }) => record).filter(({ announced }) => isOffered(announced)));
    }
    for (const listener of listeners) listener();
  };

  for (const record of file.initial?.known ?? []) tracked.set(refKey(record), { record, pod: undefined });
  refresh();

  return {
    all: () => [...tracked.values()],
    get: (ref) => tracked.get(refKey(ref)),
    setEpisode(ref, episode) {
      const record = tracked.get(refKey(ref))?.record;
      if (record) put({ ...record, episode });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(until) {
      signal = until;
      const off = cache.onChange(refresh);
      refresh();
      await untilAborted(until);
      off();
      await watch.stop();
      await file.flush().catch((error: unknown) => env.log.error('failed to save the updates', { error }));
    },
  };
};
