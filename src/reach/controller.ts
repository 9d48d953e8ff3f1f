import {
  createReflector,
  createWorkQueue,
  isKubeError,
  type KubeClient,
  type KubeObject,
  splitKey,
  type WorkQueue,
} from '../kube/index.ts';
import type { Controller } from '../leading/index.ts';
import type { Env } from '../runtime/index.ts';
import { ownKey } from '../words/index.ts';
import { describeChange } from './describe.ts';
import type { ClusterKind, ClusterReading, Hub } from './kind.ts';
import { FIELD_MANAGER, type PresentLabel, readLabel } from './label.ts';
import { type ClusterContact, type Reach, type ReachDecision, type ReachTerms, reachOf } from './reach-of.ts';

/**
 * The reach that a cluster has, and why; `unmanaged`, without a cause, if it has a value that is not ours. `many-at-once`: it would be
 * away, but keeps its label while most clusters are gone.
 */
export interface Verdict {
  reach: Reach | 'unmanaged';
  cause: ReachDecision['cause'] | 'many-at-once' | '';
}

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
/** For each cluster that is looked at again: thousands of them must not keep the hub busy. */
const LOOK_AGAIN_EACH_MS = 100;
/** So few may go away together by chance. */
const FEW = 2;
/** For so long, clusters are not counted again. */
const COUNT_MS = 1_000;
/** The watch brings the version that we did not know. */
const CONFLICT_MS = 1_000;

const valueOf = (label: PresentLabel): Reach | 'unmanaged' | undefined =>
  typeof label === 'object' ? label.reach : label;

/** In a ring by a label that it can lose by going away. Suspects are gone already. */
const hasPlace = (label: PresentLabel): boolean => label === undefined || valueOf(label) === 'online';

const stateOf = ({ goneAfter }: ClusterReading, at: number): ClusterContact['state'] => {
  if (goneAfter === undefined) return 'never';
  return at > goneAfter ? 'gone' : 'available';
};

/** Keeps the label of the clusters of one kind. It stores nothing: all that it decides follows from the objects. */
export const createReachController = <T extends KubeObject, R extends ClusterReading>(
  kind: ClusterKind<T, R>,
  { client, env, terms, metrics, aheadMs }: ReachParts,
): ReachController => {
  const now = (): number => env.clock.now() - aheadMs();
  const verdicts = new Map<string, Verdict>();
  /** When a cluster became available, or was first seen to be. */
  const back = new Map<string, number>();
  /** When it became unavailable while we watched. */
  const went = new Map<string, number>();
  /** Since when clusters with a place in a ring have been about to lose it. */
  const leaving = new Map<string, number>();
  /** Of clusters that are missing: whether they are most of those in rings, and how many are looked at again. */
  let missing = { at: Number.NEGATIVE_INFINITY, most: false, lookedAt: 0 };
  let queue: WorkQueue | undefined;

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
        upsert(key, { reading }, previous) {
          const at = now();
          const changed = previous?.reading.availability !== reading.availability;
          const state = stateOf(reading, at);
          if (state === 'available' && (changed || stateOf(previous.reading, at) !== state)) back.set(key, at);
          if (state === 'gone' && previous && changed) went.set(key, at);
          queue?.add(key);
        },
        remove(key) {
          for (const map of [back, went, leaving, verdicts]) map.delete(key);
        },
      },
    ],
  });

  const count = (): typeof missing => {
    const at = now();
    if (at - missing.at < COUNT_MS) return missing;
    const clusters = [...reflector.store.entries()].map(([, cluster]) => cluster).filter(({ deleting }) => !deleting);
    const inRings = clusters.filter(({ label }) => hasPlace(label));
    const gone = inRings.filter(({ reading }) => at > reading.missingAfter).length;
    const suspects = clusters.filter(({ label }) => valueOf(label) === 'suspect').length;
    const most = gone > FEW && gone > inRings.length / 2;
    if (most && !missing.most)
      env.log.warn(`${gone} of ${inRings.length} clusters in rings are gone: those keep their label until fewer are`);
    missing = { at, most, lookedAt: gone + suspects };
    return missing;
  };

  const lookAgainAt = (at: number): number => at + Math.max(LOOK_AGAIN_MS, count().lookedAt * LOOK_AGAIN_EACH_MS);

  /**
   * Why a cluster that would become away stays in its ring for now, and when to decide again. Undefined: it leaves. If most of the
   * clusters are gone, it looks like an outage of the hub, or of its link: without them, the last group would get at once what their
   * rings hold back.
   */
  const keepInRing = (key: string, { missingAfter, spreadMs }: R, at: number) => {
    if (count().most) {
      // Once it is over, those that have not come back yet wait for each other again.
      leaving.set(key, at);
      return { cause: 'many-at-once', until: lookAgainAt(at) } as const;
    }
    const since = leaving.get(key) ?? (Number.isFinite(missingAfter) ? missingAfter : at);
    leaving.set(key, since);
    return at < since + spreadMs ? ({ cause: 'went-away', until: since + spreadMs } as const) : undefined;
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

  const contactOf = async (key: string, reading: R, at: number, hub: Hub): Promise<ClusterContact> => {
    const state = stateOf(reading, at);
    if (state === 'gone') return kind.lastContact(key, reading, went.get(key), hub);
    return state === 'never' ? { state } : { state, since: back.get(key) ?? at };
  };

  const reconcile = async (key: string, signal: AbortSignal): Promise<{ requeueAt?: number }> => {
    const cluster = reflector.store.get(key);
    if (!cluster || cluster.deleting) {
      verdicts.delete(key);
      return {};
    }
    const { reading, label } = cluster;
    if (label === 'unmanaged') {
      if (verdicts.get(key)?.reach !== label)
        env.log.info(`cluster ${key} has a reach of its own, which is left alone`);
      verdicts.set(key, { reach: label, cause: '' });
      return {};
    }
    const hub = { client, signal };
    const at = now();
    const contact = await contactOf(key, reading, at, hub);
    const updates = contact.state === 'gone' ? await kind.updates(key, reading, hub) : [];
    const decision = reachOf({ contact, updates, label, backAt: back.get(key) }, terms, at);
    // It was changed while we asked, and is in the queue again.
    if (reflector.store.get(key) !== cluster || signal.aborted) return {};
    const kept = decision.cause === 'went-away' && hasPlace(label) ? keepInRing(key, reading, at) : undefined;
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
    if (decision.cause === 'never-seen' && decision.reach !== 'away' && verdicts.get(key)?.cause !== 'never-seen')
      env.log.warn(`cluster ${key} no longer says whether it is available, and keeps its place in its ring`);
    verdicts.set(key, { reach: decision.reach, cause: decision.cause });
    const goneAt = contact.state === 'available' ? (reading.goneAfter ?? 0) + 1 : undefined;
    const lookAt = contact.state === 'gone' && decision.reach === 'suspect' ? lookAgainAt(at) : undefined;
    const next = Math.min(...[goneAt, decision.changesAt, lookAt].filter((time) => time !== undefined));
    return Number.isFinite(next) ? { requeueAt: next + aheadMs() } : {};
  };

  return {
    run: (signal) => reflector.run(signal),
    synced: () => reflector.synced,
    async lead(signal) {
      const leading = createWorkQueue({
        env,
        concurrency: CONCURRENCY,
        // Clusters of one namespace must not wait for each other.
        groupOf: (key) => key,
        // Nothing is known of a cluster whose reading failed. It keeps its label.
        process: (key, during) =>
          reconcile(key, during).catch((error: unknown) => {
            verdicts.delete(key);
            metrics.failed(kind.name);
            throw error;
          }),
      });
      queue = leading;
      for (const [key] of reflector.store.entries()) leading.add(key);
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
        verdicts.clear();
        leaving.clear();
      }
    },
    verdicts: () => verdicts.values(),
  };
};
