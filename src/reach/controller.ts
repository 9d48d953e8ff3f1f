import {
  createReflector,
  createWorkQueue,
  isKubeError,
  type KubeClient,
  type KubeObject,
  splitKey,
} from '../kube/index.ts';
import type { Controller } from '../leading/index.ts';
import type { Env } from '../runtime/index.ts';
import { ownKey } from '../words/index.ts';
import { describeChange } from './describe.ts';
import type { ClusterKind, ClusterReading } from './kind.ts';
import { FIELD_MANAGER, type PresentLabel, readLabel } from './label.ts';
import { type Reach, type ReachDecision, type ReachTerms, reachOf } from './reach-of.ts';

/**
 * The reach that a cluster has, and why; `unmanaged` if it has a value that is not ours. `many-at-once`: it would be away, but keeps
 * its label while most clusters are gone.
 */
export type Verdict = { reach: Reach; cause: ReachDecision['cause'] | 'many-at-once' } | 'unmanaged';

export interface ReachController extends Controller {
  /** Of each cluster since this process leads. */
  verdicts(): Iterable<Verdict>;
}

export interface ReachMetrics {
  changed(kind: string, reach: string): void;
  failed(kind: string): void;
}

export interface ReachParts {
  client: KubeClient;
  env: Env;
  terms: ReachTerms;
  metrics: ReachMetrics;
  /** How far our clock is ahead of the API server's, ms. */
  aheadMs: () => number;
}

interface CachedCluster<R> {
  reading: R;
  resourceVersion: string;
  label: PresentLabel;
  deleting: boolean;
}

/** Clusters looked at side by side. Most need no request. */
const CONCURRENCY = 8;
/** What a suspect is given is not watched, but read again: another version ends the suspicion. */
const LOOK_AGAIN_MS = 10_000;
/** So few may go away together by chance. */
const FEW = 2;
/** For so long, clusters are not counted again. */
const COUNT_MS = 1_000;
/** The watch brings the version that we did not know. */
const CONFLICT_MS = 1_000;

const valueOf = (label: PresentLabel): string | undefined => (typeof label === 'object' ? label.reach : label);

/** Of those whose availability says so. Suspects are gone already. */
const isInRing = (label: PresentLabel): boolean => label === undefined || valueOf(label) === 'online';

/** Keeps the label of the clusters of one kind. It stores nothing: all that it decides follows from the objects. */
export const createReachController = <T extends KubeObject, R extends ClusterReading>(
  kind: ClusterKind<T, R>,
  { client, env, terms, metrics, aheadMs }: ReachParts,
): ReachController => {
  const now = (): number => env.clock.now() - aheadMs();
  const verdicts = new Map<string, Verdict>();
  /** When a cluster became available or unavailable while we watched. */
  const changes = new Map<string, number>();
  /** When this process first saw the present label. */
  const labelsSeen = new Map<string, number>();
  /** Since when clusters with a place in a ring have been about to lose it. */
  const leaving = new Map<string, number>();
  let gone = { at: Number.NEGATIVE_INFINITY, most: false };

  const reflector = createReflector<T, CachedCluster<R>>({
    client,
    env,
    resource: kind.clusters,
    project: (cluster) => ({
      reading: kind.read(cluster),
      resourceVersion: cluster.metadata?.resourceVersion ?? '',
      label: readLabel(cluster.metadata),
      deleting: cluster.metadata?.deletionTimestamp !== undefined,
    }),
    handlers: [
      {
        upsert(key, cluster, previous) {
          if (previous && previous.reading.availability !== cluster.reading.availability) changes.set(key, now());
          if (!previous || valueOf(previous.label) !== valueOf(cluster.label)) labelsSeen.set(key, now());
          queue.add(key);
        },
        remove(key) {
          for (const map of [changes, labelsSeen, leaving]) map.delete(key);
          verdicts.delete(key);
        },
      },
    ],
  });

  /**
   * Most of the clusters in rings are gone. It looks like an outage of the hub, or of its link: if they were all taken out of their
   * rings, the last group would get at once what the rings hold back.
   */
  const areMostGone = (): boolean => {
    const at = now();
    if (at - gone.at < COUNT_MS) return gone.most;
    const inRings = [...reflector.store.entries()].filter(([, each]) => !each.deleting && isInRing(each.label));
    const count = inRings.filter(([, { reading }]) => kind.isGone(reading, at)).length;
    const most = count > FEW && count > inRings.length / 2;
    if (most && !gone.most)
      env.log.warn(`${count} of ${inRings.length} clusters in rings are gone: those keep their label until fewer are`);
    gone = { at, most };
    return most;
  };

  /** Why a cluster that would become away stays in its ring for now, and when to decide again. Undefined: it leaves. */
  const keepInRing = (key: string, at: number): { cause: 'went-away' | 'many-at-once'; until: number } | undefined => {
    const since = leaving.get(key) ?? at;
    leaving.set(key, since);
    // So that those that go with it are seen to be gone.
    if (at < since + terms.settleMs) return { cause: 'went-away', until: since + terms.settleMs };
    return areMostGone() ? { cause: 'many-at-once', until: at + LOOK_AGAIN_MS } : undefined;
  };

  const write = async (key: string, { resourceVersion, label }: CachedCluster<R>, decision: ReachDecision) => {
    // With the version that the decision is about: a cluster that has come back meanwhile is decided on again.
    const body = { metadata: { resourceVersion, labels: { [ownKey.reach]: decision.reach } } };
    const written = await client.patch(kind.clusters, splitKey(key), body, {
      type: 'merge',
      fieldManager: FIELD_MANAGER,
    });
    reflector.accept(written);
    metrics.changed(kind.name, decision.reach);
    const level = decision.reach === 'suspect' ? 'warn' : 'info';
    env.log[level](describeChange(key, decision), {
      kind: kind.name,
      cluster: key,
      from: label === undefined || label === 'unmanaged' ? 'none' : label.reach,
      to: decision.reach,
    });
  };

  const reconcile = async (key: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    const cluster = reflector.store.get(key);
    if (!cluster || cluster.deleting) {
      verdicts.delete(key);
      return {};
    }
    const { reading } = cluster;
    if (cluster.label === 'unmanaged') {
      if (verdicts.get(key) !== 'unmanaged') env.log.info(`cluster ${key} has a reach of its own, which is left alone`);
      verdicts.set(key, 'unmanaged');
      return {};
    }
    const label = cluster.label && { ...cluster.label, at: cluster.label.at ?? labelsSeen.get(key) };
    const hub = { client, signal };
    const observed = { now: now(), changedAt: changes.get(key), label };
    const { contact, changesAt } = await kind.contact(key, reading, observed, hub);
    const updates = contact.state === 'gone' ? await kind.updates(key, reading, hub) : [];
    const decision = reachOf({ contact, updates, label }, terms, observed.now);
    // It was changed while we asked, and is in the queue again.
    if (reflector.store.get(key) !== cluster || signal.aborted) return {};
    const kept = decision.cause === 'went-away' && isInRing(label) ? keepInRing(key, observed.now) : undefined;
    if (kept) {
      verdicts.set(key, { reach: label?.reach ?? 'online', cause: kept.cause });
      return { requeueAt: kept.until + aheadMs() };
    }
    leaving.delete(key);
    if (label?.reach !== decision.reach) {
      try {
        await write(key, cluster, decision);
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return {};
        if (isKubeError(error, 'Conflict')) return { requeueAt: env.clock.now() + CONFLICT_MS };
        throw error;
      }
    }
    verdicts.set(key, { reach: decision.reach, cause: decision.cause });
    const lookAgainAt = decision.reach === 'suspect' ? observed.now + LOOK_AGAIN_MS : undefined;
    const next = [changesAt, decision.changesAt, lookAgainAt].filter((time) => time !== undefined);
    return next.length === 0 ? {} : { requeueAt: Math.min(...next) + aheadMs() };
  };

  const queue = createWorkQueue({
    env,
    concurrency: CONCURRENCY,
    // Clusters of one namespace must not wait for each other.
    groupOf: (key) => key,
    process: reconcile,
    metrics: {
      worked(_seconds, result) {
        if (result === 'error') metrics.failed(kind.name);
      },
    },
  });

  return {
    run: (signal) => reflector.run(signal),
    synced: () => reflector.synced,
    async lead(signal) {
      for (const [key] of reflector.store.entries()) queue.add(key);
      await queue.run(signal).finally(() => verdicts.clear());
    },
    verdicts: () => verdicts.values(),
  };
};
