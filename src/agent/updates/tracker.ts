import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { recordedTemplate } from '../../rollout/index.ts';
import { type BackoffOptions, backoffMs, type Env, sleep, type Timer, untilAborted } from '../../runtime/index.ts';
import { createListeners } from '../listeners.ts';
import { type PodCache, unreadableReason } from '../pods/index.ts';
import { createStateFile, type StateFiles } from '../storage/index.ts';
import type { Troubles } from '../troubles.ts';
import type { DaemonSetRef, Owner } from '../types.ts';
import { daemonSetOf, imagesOf, isOffered } from './announcement.ts';
import { currentPod, nextRecord, refKey, type Terms, type UpdateInProgress, type UpdateRecord } from './record.ts';
import { releaseNotesOf } from './release-notes.ts';
import { createTermsWatch } from './terms-watch.ts';

export interface UpdateTrackerOptions {
  client: KubeClient;
  env: Env;
  cache: Pick<PodCache, 'list' | 'connected' | 'onChange'>;
  dir: string;
  /** Default: the machine's file system. */
  files?: StateFiles | undefined;
  /** Where updates that cannot be computed are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
}

/** One DaemonSet of this node, with its current pod here. */
export interface TrackedUpdate {
  /** The last one that could be computed; one without a target if none ever could. */
  record: UpdateRecord;
  pod: Pod | undefined;
  /** Why the present state of the update is unknown, for people: then nothing is done about it. */
  problem?: string;
}

/** The updates of this node with their details, online and offline. */
export interface UpdateTracker {
  all(): readonly TrackedUpdate[];
  get(ref: DaemonSetRef): TrackedUpdate | undefined;
  setUpdateInProgress(ref: DaemonSetRef, updateInProgress: UpdateInProgress | null): void;
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
const RECOMPUTE_BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
/** The announcement can precede the ControllerRevision briefly; a revision that was cleaned up never appears. */
const MAX_MISSING_READS = 5;

const parseSaved = (value: unknown): Saved | undefined => {
  const read = value as Partial<Saved> | null;
  return read?.format === FORMAT && Array.isArray(read.known) ? { format: FORMAT, known: read.known } : undefined;
};

/** A DaemonSet of which nothing could be computed yet. */
const unknownRecord = (owner: Owner): UpdateRecord => ({
  ...owner,
  running: { revision: '', images: [] },
  announced: { revision: '', need: 'no', reason: '' },
  announcedBy: '',
  details: null,
  terms: null,
  updateInProgress: null,
});

const isKnown = ({ announced }: UpdateRecord): boolean => announced.revision !== '';

export const createUpdateTracker = (options: UpdateTrackerOptions): UpdateTracker => {
  const { client, env, cache, dir, files, troubles } = options;
  const kind = { dir, name: 'updates.json', env, parse: parseSaved };
  const file = createStateFile<Saved>({ ...kind, ...(files && { files }) });
  let tracked = new Map<string, TrackedUpdate>();
  const listeners = createListeners(env.log, 'the updates');
  /** DaemonSets whose terms cannot be read, by `refKey`: their UID. */
  const withoutTerms = new Map<string, string>();
  const recomputing: { failures: number; timer: Timer | undefined } = { failures: 0, timer: undefined };
  const reading = new Map<string, { revision: string; failures: number; due: number }>();
  let signal: AbortSignal | undefined;

  const known = (): UpdateRecord[] => [...tracked.values()].map(({ record }) => record).filter(isKnown);
  const save = (): void => file.save(() => ({ format: FORMAT, known: known() }));
  const put = (record: UpdateRecord): void => {
    const key = refKey(record);
    tracked.set(key, { ...tracked.get(key), pod: tracked.get(key)?.pod, record });
    save();
    listeners.notify();
  };

  const onTerms = (owner: Owner, terms: Terms | undefined): void => {
    const key = refKey(owner);
    const record = tracked.get(key)?.record;
    if (record?.uid !== owner.uid) return;
    const wasUnknown = withoutTerms.delete(key);
    if (terms === undefined) withoutTerms.set(key, owner.uid);
    else if (JSON.stringify(record.terms) !== JSON.stringify(terms)) put({ ...record, terms });
    if (wasUnknown !== (terms === undefined)) refresh();
  };
  const watch = createTermsWatch({ client, env, troubles, onTerms });

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

  /** The pods of each DaemonSet of this node. */
  const grouped = (): Map<string, { owner: Owner; pods: Pod[] }> => {
    const groups = new Map<string, { owner: Owner; pods: Pod[] }>();
    for (const { record } of tracked.values()) groups.set(refKey(record), { owner: record, pods: [] });
    for (const pod of cache.list()) {
      const owner = daemonSetOf(pod);
      if (!owner) continue;
      const group = groups.get(refKey(owner));
      // If a DaemonSet was recreated with the same name, only the pods of the new one count.
      if (group && group.owner.uid === owner.uid) group.pods.push(pod);
      else if (!group || group.pods.length === 0) groups.set(refKey(owner), { owner, pods: [pod] });
    }
    return groups;
  };

  /** Undefined when there is nothing to decide. Throws for what it cannot compute. */
  const track = (owner: Owner, pods: readonly Pod[], before: UpdateRecord | undefined): TrackedUpdate | undefined => {
    for (const pod of pods) {
      const reason = unreadableReason(pod);
      if (reason !== undefined) throw new Error(`pod ${pod.metadata?.name ?? ''} cannot be read: ${reason}`);
    }
    const record = nextRecord(owner, pods, before && isKnown(before) ? before : undefined);
    return record && { record, pod: currentPod(pods) };
  };

  const refresh = (): void => {
    const next = new Map<string, TrackedUpdate>();
    let failed = false;
    for (const [key, { owner: of, pods }] of grouped()) {
      const { namespace, daemonSet, apiVersion, uid } = of;
      const owner: Owner = { namespace, daemonSet, apiVersion, uid };
      const before = tracked.get(key);
      const same = before?.record.uid === uid ? before.record : undefined;
      try {
        const found = track(owner, pods, before?.record);
        troubles.clear('record', key);
        if (found) next.set(key, found);
      } catch (error) {
        failed = true;
        const problem = troubles.report('record', key, error, owner);
        // Nothing follows from what cannot be computed: what was known stays.
        next.set(key, { record: same ?? unknownRecord(owner), pod: pods.at(-1) ?? before?.pod, problem });
      }
      const found = next.get(key);
      // The terms are watched while an update is offered.
      if (found && isOffered(found.record.announced) && withoutTerms.get(key) === uid)
        next.set(key, { problem: `the settings of DaemonSet ${daemonSet} cannot be read`, ...found });
      else withoutTerms.delete(key);
    }
    for (const key of tracked.keys()) if (!next.has(key)) troubles.clear('record', key);
    const before = JSON.stringify(known());
    tracked = next;
    if (JSON.stringify(known()) !== before) save();
    if (signal && !signal.aborted) {
      if (cache.connected()) readMissing(signal);
      watch.follow([...tracked.values()].map(({ record }) => record).filter(({ announced }) => isOffered(announced)));
      recomputeLater(failed);
    }
    listeners.notify();
  };

  /** What failed once may succeed, although nothing has changed. */
  const recomputeLater = (failed: boolean): void => {
    if (!failed) recomputing.failures = 0;
    if (!failed || recomputing.timer) return;
    recomputing.failures += 1;
    recomputing.timer = env.clock.timer(backoffMs(recomputing.failures, RECOMPUTE_BACKOFF, env.random), () => {
      recomputing.timer = undefined;
      refresh();
    });
  };

  for (const record of file.initial?.known ?? []) tracked.set(refKey(record), { record, pod: undefined });
  refresh();

  return {
    all: () => [...tracked.values()],
    get: (ref) => tracked.get(refKey(ref)),
    setUpdateInProgress(ref, updateInProgress) {
      const record = tracked.get(refKey(ref))?.record;
      if (record) put({ ...record, updateInProgress });
    },
    onChange: (listener) => listeners.add(listener),
    async run(until) {
      signal = until;
      const off = cache.onChange(refresh);
      refresh();
      await untilAborted(until);
      off();
      recomputing.timer?.cancel();
      await watch.stop();
      await file.flush().catch((error: unknown) => env.log.error('failed to save the updates', { error }));
    },
  };
};
