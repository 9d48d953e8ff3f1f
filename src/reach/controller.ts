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
import { type ReachDecision, type ReachTerms, reachOf } from './reach-of.ts';

/** How the controller stands to a cluster: what it decided, or that the cluster is not its business. */
export type Verdict = Pick<ReachDecision, 'reach' | 'cause'> | 'unmanaged';

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
/** A suspect is no longer one once the hub gives it another version, which nothing else tells: that is not watched. */
const LOOK_AGAIN_MS = 10_000;
/** The watch brings the version that we did not know. */
const CONFLICT_MS = 1_000;

/** Keeps the label of the clusters of one kind. It stores nothing: all that it decides follows from the objects. */
export const createReachController = <T extends KubeObject, R extends ClusterReading>(
  kind: ClusterKind<T, R>,
  { client, env, terms, metrics, aheadMs }: ReachParts,
): ReachController => {
  const now = (): number => env.clock.now() - aheadMs();
  const verdicts = new Map<string, Verdict>();
  /** When a cluster became available or unavailable while we watched. */
  const changes = new Map<string, number>();

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
          queue.add(key);
        },
        remove(key) {
          changes.delete(key);
          verdicts.delete(key);
        },
      },
    ],
  });

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
    const { reading, label } = cluster;
    if (label === 'unmanaged') {
      if (verdicts.get(key) !== label) env.log.info(`cluster ${key} has a reach of its own, which is left alone`);
      verdicts.set(key, label);
      return {};
    }
    const hub = { client, signal };
    const observed = { now: now(), changedAt: changes.get(key), label };
    const { contact, changesAt } = await kind.contact(key, reading, observed, hub);
    const updates = contact.state === 'gone' ? await kind.updates(key, reading, hub) : [];
    const decision = reachOf({ contact, updates, label }, terms, observed.now);
    // It was changed while we asked, and is in the queue again.
    if (reflector.store.get(key) !== cluster || signal.aborted) return {};
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
