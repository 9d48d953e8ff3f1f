import { isDeepStrictEqual } from 'node:util';
import { type Env, errorText, sleep, untilAborted, withSignal } from '../runtime/index.ts';
import { keepDrawing } from '../view/index.ts';
import { createSubscribers, type Feed } from './feed.ts';
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts';
import { type OverviewMessage, type RolloutRow, rolloutKey, type SilentCluster } from './messages.ts';

const RETRY_MS = 5_000;

export interface ClustersOptions extends Pick<FleetOptions, 'namespace' | 'edgeset' | 'run'> {
  env: Pick<Env, 'clock'>;
  /** Of the kubeconfig, each once. */
  contexts: readonly string[];
  /** Connects to the cluster of a context for as long as `work` runs. */
  connect: (context: string, work: (connection: FleetOptions['connection']) => Promise<void>) => Promise<void>;
}

interface Member {
  /** Undefined until the cluster has answered. */
  fleet: Fleet | undefined;
  /** Why it has not; empty before it has failed to. */
  why: string;
  /** Undefined until its rollouts are known. */
  rows: Map<string, RolloutRow> | undefined;
}

const silentOf = (cluster: string, { fleet, why, rows }: Member): SilentCluster[] => {
  const trouble = fleet?.trouble() ?? why;
  return rows && trouble === '' ? [] : [{ cluster, why: trouble }];
};

/**
 * The fleets of several clusters as one. A cluster that does not answer is tried again and again, and keeps nobody from seeing the
 * others.
 */
export const createClusters = ({ env, contexts, connect, ...shown }: ClustersOptions): Fleet => {
  const members = new Map<string, Member>(
    contexts.map((context) => [context, { fleet: undefined, why: '', rows: undefined }]),
  );
  const stop = new AbortController();
  let silent: readonly SilentCluster[] = contexts.map((cluster) => ({ cluster, why: '' }));
  let changes = 0;
  const whole = (): OverviewMessage => ({
    type: 'rollouts',
    rows: [...members.values()].flatMap(({ rows }) => [...(rows?.values() ?? [])]),
    silent,
  });
  const subscribers = createSubscribers<OverviewMessage>(whole);

  /** With the clusters that are silent now, if that has changed. */
  const publish = (rows: readonly RolloutRow[], gone: readonly string[]): void => {
    const now = [...members].flatMap(([context, member]) => silentOf(context, member));
    const isSame = isDeepStrictEqual(now, silent);
    silent = now;
    if (rows.length > 0 || gone.length > 0 || !isSame)
      subscribers.publish({ type: 'change', rows, gone, ...(!isSame && { silent }) });
  };

  const hear = (member: Member, message: OverviewMessage): void => {
    member.rows ??= new Map();
    const known = member.rows;
    const fresh = new Set(message.rows.map(rolloutKey));
    const gone = message.type === 'change' ? message.gone : [...known.keys()].filter((key) => !fresh.has(key));
    for (const key of gone) known.delete(key);
    for (const row of message.rows) known.set(rolloutKey(row), row);
    publish(message.rows, gone);
  };

  /** Resolves when the dashboard is closed: the watches of a cluster that has answered once resume by themselves. */
  const show = async (context: string, member: Member, connection: FleetOptions['connection']): Promise<void> => {
    const fleet = createFleet({ ...shown, connection, context });
    try {
      const overview: Feed<OverviewMessage> = await withSignal(fleet.overview(), stop.signal);
      Object.assign(member, { fleet, why: '' });
      overview.subscribe((message) => hear(member, message));
      changes += 1;
      await untilAborted(stop.signal);
    } finally {
      await fleet.close();
    }
  };

  const follow = async (context: string, member: Member): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await connect(context, (connection) => show(context, member, connection));
      } catch (error) {
        member.why = errorText(error);
        changes += 1;
      }
      await sleep(env.clock, RETRY_MS, stop.signal).catch(() => undefined);
    }
  };

  const running = [
    ...Array.from(members, ([context, member]) => follow(context, member)),
    keepDrawing(
      env.clock,
      () => changes,
      () => publish([], []),
      stop.signal,
    ),
  ];

  /** Throws if the cluster has not answered yet. */
  const of = (cluster: string | undefined): Fleet => {
    const { fleet, why = '' } = members.get(cluster ?? '') ?? {};
    if (fleet) return fleet;
    throw new Error(`nothing is known of the cluster ${cluster} yet${why === '' ? '' : `: ${why}`}`);
  };

  return {
    run: shown.run,
    now: () => env.clock.now(),
    // On the overview, each cluster has a line of its own.
    trouble: (cluster) => (cluster === undefined ? '' : (members.get(cluster)?.fleet?.trouble() ?? '')),
    overview: async () => subscribers,
    rollout: (ref) => of(ref.cluster).rollout(ref),
    node: async (feed, ref, node) => of(ref.cluster).node(feed, ref, node),
    events: async (feed, ref) => of(ref.cluster).events(feed, ref),
    labels: async (key, cluster) => of(cluster).labels(key),
    async close() {
      stop.abort();
      await Promise.all(running);
    },
  };
};
