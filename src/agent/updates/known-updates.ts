import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { type BackoffOptions, backoffMs, isKubeError, type KubeClient } from '../../kube/index.ts';
import { controllerRevisions } from '../../resources/index.ts';
import { recordedTemplate } from '../../rollout/index.ts';
import { type Env, sleep, untilAborted } from '../../runtime/index.ts';
import { createStateFile, type PodCache, type StateFiles } from '../pods/index.ts';
import type { DaemonSetRef } from '../types.ts';
import { daemonSetOf, imagesOf, isOffered, type Owner } from './announced.ts';
import { type Episode, type Known, leadingPod, learn, refKey, type Terms } from './known.ts';
import { createTermsWatch } from './terms-watch.ts';

export interface KnownUpdatesOptions {
  client: KubeClient;
  env: Env;
  cache: Pick<PodCache, 'list' | 'connected' | 'onChange'>;
  dir: string;
  /** Default: the machine's own. */
  files?: StateFiles | undefined;
}

/** One DaemonSet of this node with the pod that counts. */
export interface Here {
  known: Known;
  pod: Pod | undefined;
}

/** What waits on this node, with the details that are told of it, online and offline. */
export interface KnownUpdates {
  all(): readonly Here[];
  get(ref: DaemonSetRef): Here | undefined;
  setEpisode(ref: DaemonSetRef, episode: Episode | null): void;
  onChange(listener: () => void): () => void;
  /** Follows the pods, reads what is told of new targets, and watches what waits, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of another form than this code writes, a file is of an older or newer agent, and says nothing to it. */
const FORMAT = 1;

interface Saved {
  format: typeof FORMAT;
  known: Known[];
}

const READ_BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
const READ_TIMEOUT_MS = 10_000;
/** The revision of a target may be younger than its announcement for a moment, and never comes when it was cleaned up. */
const MISSING_READS = 5;

const parseSaved = (value: unknown): Saved | undefined => {
  const read = value as Partial<Saved> | null;
  return read?.format === FORMAT && Array.isArray(read.known) ? { format: FORMAT, known: read.known } : undefined;
};

export const createKnownUpdates = ({ client, env, cache, dir, files }: KnownUpdatesOptions): KnownUpdates => {
  const kind = { dir, name: 'updates.json', env, parse: parseSaved };
  const file = createStateFile<Saved>({ ...kind, ...(files && { files }) });
  let here = new Map<string, Here>();
  const listeners = new Set<() => void>();
  const reading = new Map<string, { revision: string; failures: number; due: number }>();
  let signal: AbortSignal | undefined;

  const save = (): void => file.save(() => ({ format: FORMAT, known: [...here.values()].map(({ known }) => known) }));
  const changed = (): void => {
    save();
    for (const listener of listeners) listener();
  };
  const put = (known: Known): void => {
    const key = refKey(known);
    here.set(key, { known, pod: here.get(key)?.pod });
    changed();
  };

  const watch = createTermsWatch(client, env, (owner, terms) => onTerms(owner, terms));
  const onTerms = (owner: Owner, terms: Terms): void => {
    const known = here.get(refKey(owner))?.known;
    if (known?.uid === owner.uid && JSON.stringify(known.terms) !== JSON.stringify(terms)) put({ ...known, terms });
  };

  const readDetails = async (known: Known, within: AbortSignal): Promise<void> => {
    const key = refKey(known);
    const { revision } = known.announced;
    const attempt = reading.get(key) ?? { revision, failures: 0, due: 0 };
    // Until the answer is there, nobody else asks.
    reading.set(key, { ...attempt, due: Number.POSITIVE_INFINITY });
    try {
      const read = await client.get(
        controllerRevisions,
        { namespace: known.namespace, name: `${known.daemonSet}-${revision}` },
        { signal: within, timeoutMs: READ_TIMEOUT_MS },
      );
      reading.delete(key);
      const template: PodTemplateSpec | undefined = recordedTemplate(read);
      const now = here.get(key)?.known;
      if (now?.announced.revision !== revision) return;
      const publishedAt = read.metadata?.creationTimestamp ?? null;
      put({ ...now, details: { images: imagesOf(template?.spec), publishedAt } });
    } catch (error) {
      if (within.aborted) return;
      const failures = attempt.failures + 1;
      const isHopeless = isKubeError(error, 'NotFound', 'Forbidden') && failures >= MISSING_READS;
      const delay = backoffMs(env, failures, READ_BACKOFF);
      const due = isHopeless ? Number.POSITIVE_INFINITY : env.clock.now() + delay;
      reading.set(key, { revision, failures, due });
      env.log.warn('what the new revision holds cannot be read', { daemonSet: key, revision, error });
      if (!isHopeless) sleep(env.clock, delay, within).then(refresh, () => undefined);
    }
  };

  /** Details of a current pod are what it runs; publishedAt alone is not worth a request at rest. */
  const lacksDetails = ({ announced, details }: Known): boolean => details === null && isOffered(announced);

  const readMissing = (within: AbortSignal): void => {
    for (const { known } of here.values()) {
      const key = refKey(known);
      if (reading.get(key)?.revision !== known.announced.revision) reading.delete(key);
      if (lacksDetails(known) && (reading.get(key)?.due ?? 0) <= env.clock.now()) void readDetails(known, within);
    }
  };

  const refresh = (): void => {
    const grouped = new Map<string, { owner: Owner; pods: Pod[] }>();
    for (const { known } of here.values()) grouped.set(refKey(known), { owner: known, pods: [] });
    for (const pod of cache.list()) {
      const owner = daemonSetOf(pod);
      if (!owner) continue;
      const group = grouped.get(refKey(owner));
      // Of two DaemonSets with one name the pods of the new one count.
      if (group && group.owner.uid === owner.uid) group.pods.push(pod);
      else if (!group || group.pods.length === 0) grouped.set(refKey(owner), { owner, pods: [pod] });
    }
    const next = new Map<string, Here>();
    for (const [key, { owner, pods }] of grouped) {
      const { namespace, daemonSet, apiVersion, uid } = owner;
      const known = learn({ namespace, daemonSet, apiVersion, uid }, pods, here.get(key)?.known);
      if (known) next.set(key, { known, pod: leadingPod(pods) });
    }
    const before = JSON.stringify([...here.values()].map(({ known }) => known));
    here = next;
    if (JSON.stringify([...here.values()].map(({ known }) => known)) !== before) save();
    if (signal && !signal.aborted) {
      if (cache.connected()) readMissing(signal);
      watch.follow([...here.values()].map(({ known }) => known).filter(({ announced }) => isOffered(announced)));
    }
    for (const listener of listeners) listener();
  };

  for (const known of file.initial?.known ?? []) here.set(refKey(known), { known, pod: undefined });
  refresh();

  return {
    all: () => [...here.values()],
    get: (ref) => here.get(refKey(ref)),
    setEpisode(ref, episode) {
      const known = here.get(refKey(ref))?.known;
      if (known) put({ ...known, episode });
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
      await file.flush().catch((error: unknown) => env.log.error('what waits here was not written', { error }));
    },
  };
};
