import { isDeepStrictEqual } from 'node:util';
import { daemonRollouts } from '../controller/index.ts';
import { createReflector, keyOf } from '../kube/index.ts';
import { slotsOfStatus } from '../rollout/index.ts';
import { compareNames } from '../text/index.ts';
import {
  type Connection,
  type Doubt,
  keepDrawing,
  openStageOf,
  ownerOfRollout,
  readDaemonSets,
  stateOf,
  statusText,
  versionStep,
  watchDaemonSets,
} from '../view/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../words/index.ts';
import { createSubscribers, type Feed } from './feed.ts';
import { type OverviewMessage, type RolloutRow, rolloutKey } from './messages.ts';
import { whyOf } from './why.ts';

const stagesOf = ({ stages = [] }: DaemonRolloutStatus): RolloutRow['stages'] =>
  stages.length === 0
    ? undefined
    : {
        passed: stages.filter(({ state }) => state === 'Passed').length,
        total: stages.length,
        open: openStageOf(stages)?.name ?? '',
      };

const rowOf = (rollout: DaemonRollout, doubt: Doubt | undefined, cluster: string | undefined): RolloutRow => {
  const { metadata, status = {} } = rollout;
  const { kind, name } = ownerOfRollout(rollout);
  const { inUse, limit } = slotsOfStatus(status);
  const [current] = status.history ?? [];
  return {
    ...(cluster !== undefined && { cluster }),
    namespace: metadata.namespace ?? '',
    name,
    kind: kind.short,
    state: stateOf(status.conditions, { doubt, wait: openStageOf(status.stages)?.awaits?.reason }),
    status: statusText(rollout, doubt),
    why: doubt === undefined ? whyOf(status) : '',
    target: status.target?.hash ?? '',
    version: versionStep(current?.from?.images, current?.to.images ?? []),
    strategy: status.strategy ?? '',
    nodes: status.nodes ?? {},
    budget: { inUse, limit },
    stages: stagesOf(status),
    changedBy: current?.changedBy?.manager,
    startedAt: status.startedAt,
    finishedAt: status.finishedAt,
    estimatedFinishAt: status.estimatedFinishAt,
  };
};

/** Lists all rollouts of a namespace, or of all, for all who look at them. `cluster`: as the rows name it. */
export const createOverviewFeed = async (
  connection: Pick<Connection, 'client' | 'env'>,
  where: { namespace?: string },
  cluster?: string,
): Promise<Feed<OverviewMessage> & { run(signal: AbortSignal): Promise<void> }> => {
  const { client, env } = connection;
  const scope = { ...where, named: [] };
  const daemonSets = await readDaemonSets(connection, scope);
  let changes = 0;
  const changed = (): void => void (changes += 1);
  const follow = watchDaemonSets(connection, scope, daemonSets, changed);
  const reflector = createReflector({
    ...where,
    client,
    env,
    resource: daemonRollouts,
    project: (rollout: DaemonRollout) => rollout,
    handlers: [{ upsert: changed, remove: changed, synced: changed }],
  });
  let rows = new Map<string, RolloutRow>();
  let told = false;
  const whole = (): OverviewMessage => ({ type: 'rollouts', rows: [...rows.values()] });
  const subscribers = createSubscribers(() => (told ? whole() : undefined));
  const draw = (): void => {
    if (!reflector.synced) return;
    const rollouts = [...reflector.store.values()];
    const next = new Map(
      [...rollouts, ...daemonSets.unserved(rollouts)]
        .toSorted((a, b) => compareNames(keyOf(a), keyOf(b)))
        .map((rollout) => rowOf(rollout, daemonSets.doubt(rollout), cluster))
        .map((row) => [rolloutKey(row), row]),
    );
    const before = rows;
    rows = next;
    const isFirst = !told;
    told = true;
    const fresh = [...next].filter(([key, row]) => !isDeepStrictEqual(before.get(key), row)).map(([, row]) => row);
    const gone = [...before.keys()].filter((key) => !next.has(key));
    if (!isFirst && fresh.length === 0 && gone.length === 0) return;
    subscribers.publish(isFirst ? whole() : { type: 'change', rows: fresh, gone });
  };
  return {
    subscribe: (listener) => subscribers.subscribe(listener),
    async run(signal) {
      await Promise.all([reflector.run(signal), follow(signal), keepDrawing(env.clock, () => changes, draw, signal)]);
    },
  };
};
