import { daemonRollouts } from '../controller/index.ts';
import { compareNames } from '../text/index.ts';
import { type Connection, createTrouble, kinds, watchNodes, whereInstalled } from '../view/index.ts';
import { type Edgeset, edgesetIn, inNamespace } from './edgeset-in.ts';
import { rolloutEvents } from './events.ts';
import { createFeeds, type Feed } from './feed.ts';
import type {
  CommandRequest,
  CommandResult,
  NodeDetails,
  OverviewMessage,
  RolloutEvents,
  RolloutRef,
} from './messages.ts';
import { nodeDetails } from './node-details.ts';
import { createOverviewFeed } from './overview-feed.ts';
import { createRolloutFeed, type RolloutFeed, type RunningRolloutFeed } from './rollout-feed.ts';

export interface FleetOptions {
  connection: Pick<Connection, 'client' | 'env' | 'cluster'>;
  /** Undefined for all namespaces. */
  namespace: string | undefined;
  /** The context of the kubeconfig, where the page shows those of several. */
  context?: string;
  edgeset: Edgeset;
  run: (request: CommandRequest) => Promise<CommandResult>;
}

/** What the page can ask for. Whatever several pages show is watched once. */
export interface Fleet extends Pick<FleetOptions, 'run'> {
  overview(): Promise<Feed<OverviewMessage>>;
  /** Undefined for another kind; call `done` when it is no longer shown. */
  rollout(ref: RolloutRef): { feed: RolloutFeed; done: () => void } | undefined;
  node(feed: RolloutFeed, ref: RolloutRef, node: string): Promise<NodeDetails | undefined>;
  events(feed: RolloutFeed, ref: RolloutRef): Promise<RolloutEvents | undefined>;
  /** The time that the times of the cluster's objects are compared with, epoch ms. */
  now(): number;
  /** Why the page may show what is old, of a cluster where there are several; empty if it doesn't. */
  trouble(cluster?: string): string;
  /** The values of the labels that nodes can be grouped by, or the value of one on each node. */
  labels(
    key: string | undefined,
    cluster?: string,
  ): Promise<Readonly<Record<string, readonly string[]>> | Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/** Labels with more values than this do not group anything. */
const MOST_GROUPS = 200;

export const createFleet = ({ connection: quiet, namespace, context, edgeset, run }: FleetOptions): Fleet => {
  const trouble = createTrouble(quiet.env.clock);
  const { client, cluster } = quiet;
  const env = { ...quiet.env, log: trouble.log };
  const connection = { client, env, cluster, edgeset };
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  let nodes: ReturnType<typeof watchNodes> | undefined;
  const watchedNodes = (): ReturnType<typeof watchNodes> => {
    if (!nodes) {
      nodes = watchNodes({ client, env });
      running.push(nodes.run(stop.signal));
    }
    return nodes;
  };
  let overview: Promise<Feed<OverviewMessage>> | undefined;
  const feeds = createFeeds<RunningRolloutFeed>(env);

  const openOverview = async (): Promise<Feed<OverviewMessage>> => {
    const where = namespace === undefined ? {} : { namespace };
    const typed = { edgeset: edgesetIn(edgeset, namespace ?? '', context) };
    // A right or a CRD that is missing is told with its remedy: watches would try for ever.
    await whereInstalled(typed, client.list(daemonRollouts, { ...where, limit: 1 }));
    const feed = await createOverviewFeed(connection, where, context);
    running.push(feed.run(stop.signal));
    return feed;
  };

  return {
    run,
    now: () => env.clock.now(),
    trouble: () => trouble.text(),
    overview() {
      overview ??= openOverview().catch((error: unknown) => {
        overview = undefined;
        throw error;
      });
      return overview;
    },
    rollout({ namespace: of, kind: short, name }) {
      const kind = kinds.find((one) => one.short === short);
      if (!kind || of === '' || name === '') return undefined;
      return feeds.use(`${of}/${short}/${name}`, () =>
        createRolloutFeed(inNamespace(connection, of, context), kind, name, watchedNodes(), context),
      );
    },
    async node(feed, { namespace: of }, node) {
      const reading = feed.reading();
      return reading && nodeDetails(inNamespace(connection, of, context), reading, node);
    },
    async events(feed, { namespace: of }) {
      const reading = feed.reading();
      return reading && rolloutEvents(inNamespace(connection, of, context), reading);
    },
    async labels(key) {
      const known = watchedNodes();
      await known.whenSynced(stop.signal);
      const all = [...known.store.values()];
      if (key !== undefined) return Object.fromEntries(all.map(({ name, labels }) => [name, labels[key] ?? '']));
      const values = new Map<string, Set<string>>();
      for (const { labels } of all)
        for (const [label, value] of Object.entries(labels)) {
          const found = values.get(label) ?? new Set();
          if (found.size <= MOST_GROUPS) found.add(value);
          values.set(label, found);
        }
      return Object.fromEntries(
        [...values]
          .filter(([, found]) => found.size <= MOST_GROUPS && (found.size > 1 || all.length === 1))
          .map(([label, found]): [string, string[]] => [label, [...found].toSorted(compareNames)])
          .toSorted(([a], [b]) => compareNames(a, b)),
      );
    },
    async close() {
      stop.abort();
      await Promise.all([...running, feeds.close()]);
    },
  };
};
