import { isDeepStrictEqual } from 'node:util';
import type { Reflector } from '../kube/index.ts';
import { livePod, type NodeInfo, ownerStepOf } from '../rollout/index.ts';
import { type Connection, type DaemonSetKind, keepDrawing, type Reading, readPredecessor } from '../view/index.ts';
import { createSubscribers, type Feed } from './feed.ts';
import { headOf } from './head.ts';
import type { NodeCell, RolloutHead, RolloutMessage } from './messages.ts';

type NodeRecord = NonNullable<ReturnType<Reading['ledger']['get']>>;

const toSeconds = (ms: number): number => Math.round(ms / 1000);

/** When the node's update to the target began, and when it ran the target, or failed to; 0 for what its records don't publish. */
const timesOf = (record: NodeRecord, pod: ReturnType<typeof livePod>, target: string | undefined): [number, number] => {
  const { update, downSince, status } = record;
  const isTarget = pod !== undefined && pod.facts.revision === target;
  const began = update?.at ?? (isTarget ? pod.facts.createdAt : 0);
  const ended = status.failure ? downSince : isTarget && !update ? pod.readySince : 0;
  return [toSeconds(began), toSeconds(ended)];
};

const isSame = (a: NodeCell | undefined, b: NodeCell): boolean =>
  a?.every((value, index) => value === b[index]) ?? false;

/** The nodes that have changed between two readings, which it keeps. */
const createCells = () => {
  const cells = new Map<string, NodeCell>();
  return {
    all: (): NodeCell[] => [...cells.values()],
    update({ ledger }: Reading): { nodes: NodeCell[]; gone: string[] } {
      const nodes: NodeCell[] = [];
      const seen = new Set<string>();
      const target = ledger.state.target?.hash;
      const stages = ledger.policy.plan?.stages ?? [];
      const ownersDecide = ledger.policy.strategy === 'ota';
      for (const record of ledger.records()) {
        const { phase, cause = '' } = record.status;
        if (phase === undefined) continue;
        seen.add(record.name);
        const pod = livePod(record);
        const times = timesOf(record, pod, target);
        const stage = stages[record.stage]?.name ?? '';
        const owner = (ownersDecide && ownerStepOf(record.status)) || '';
        const cell: NodeCell = [record.name, phase, cause, pod?.facts.revision ?? '', ...times, stage, owner];
        if (isSame(cells.get(record.name), cell)) continue;
        cells.set(record.name, cell);
        nodes.push(cell);
      }
      const gone = [...cells.keys()].filter((name) => !seen.has(name));
      for (const name of gone) cells.delete(name);
      return { nodes, gone };
    },
  };
};

export interface RolloutFeed extends Feed<RolloutMessage> {
  /** The rollout now; undefined while there is none. */
  reading(): Reading | undefined;
}

export interface RunningRolloutFeed extends RolloutFeed {
  run(signal: AbortSignal): Promise<void>;
}

/** Follows one rollout for all who look at it, while the signal does not abort. `cluster`: as its head names it. */
export const createRolloutFeed = (
  connection: Connection,
  kind: DaemonSetKind,
  name: string,
  nodes: Reflector<NodeInfo>,
  cluster?: string,
): RunningRolloutFeed => {
  const cells = createCells();
  let changes = 0;
  let head: RolloutHead | undefined;
  let why = '';
  const { client, env, namespace } = connection;
  const preceding = readPredecessor(connection);
  const watch = kind.watch({ client, env, namespace, name, nodes, preceding, changed: () => void (changes += 1) });
  const whole = (): RolloutMessage | undefined => {
    if (head) return { type: 'rollout', head, nodes: cells.all() };
    return why === '' ? undefined : { type: 'nothing', why };
  };
  const subscribers = createSubscribers(whole);
  const reading = (): Reading | undefined => {
    const read = watch.read();
    return read === 'not-managed' ? undefined : read;
  };

  const draw = (): void => {
    const read = watch.read();
    if (read === undefined) return;
    if (read === 'not-managed') {
      const text = `${kind.title} ${namespace}/${name} does not exist, or is not managed.`;
      if (why === text) return;
      why = text;
      head = undefined;
      subscribers.publish({ type: 'nothing', why });
      return;
    }
    const next = headOf(read, connection, cluster);
    const changed = cells.update(read);
    const first = head === undefined;
    const isNews = !isDeepStrictEqual(head, next);
    head = next;
    why = '';
    if (first) subscribers.publish({ type: 'rollout', head, nodes: cells.all() });
    else if (isNews || changed.nodes.length > 0 || changed.gone.length > 0)
      subscribers.publish({ type: 'change', ...(isNews && { head }), ...changed });
  };

  return {
    reading,
    subscribe: (listener) => subscribers.subscribe(listener),
    async run(signal) {
      await Promise.all([watch.run(signal), keepDrawing(env.clock, () => changes, draw, signal)]);
    },
  };
};
