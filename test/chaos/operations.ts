import { setTimeout as sleep } from 'node:timers/promises';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRollout } from '../../src/words/index.ts';
import type { Cluster } from '../conformance/index.ts';
import type { Api } from '../conformance/kit/api.ts';
import { until } from '../conformance/kit/until.ts';
import type { DaemonSets } from './daemonsets.ts';
import { CATCH_UP_MS, type ManagerPair, type ManagerSlot } from './managers.ts';
import type { Operation } from './plan.ts';
import type { Watcher } from './watcher.ts';

export interface ChaosContext {
  cluster: Cluster;
  api: Api;
  /** By the numbers in a plan. */
  nodes: readonly string[];
  nodeLabels: Record<string, string>;
  pair: ManagerPair;
  daemonSets: DaemonSets;
  watcher: Watcher;
}

/** How long to wait for a reservation, in order to inject a fault before its update. */
const MIDWAY_MS = 4_000;

/** Long enough to connect again, and to have calls in flight. */
const RESET_EVERY_MS = 500;

/** The API server may be down, and a busy machine takes long to restart it. */
const TIMEOUT_MS = 90_000;
/** A leader that is stopped for this long loses the lease. */
const PAST_LEASE_MS = 30_000;

const untilRecovered = <T>(what: string, probe: () => Promise<T> | T) => until(what, probe, TIMEOUT_MS);

/** Retries until the API server has executed it. */
const retry = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  await untilRecovered(what, async () => {
    await work();
    return true;
  });
};

/** Resolves once this manager has reserved slots and their updates have not begun, or after a while. */
const untilMidway = async ({ cluster }: ChaosContext, { credentials }: ManagerSlot): Promise<void> => {
  let from = (await cluster.audit.read()).length;
  const end = performance.now() + MIDWAY_MS;
  await until(
    'slots are reserved',
    async () => {
      const records = await cluster.audit.read();
      const fresh = records.slice(from);
      from = records.length;
      return (
        performance.now() > end ||
        fresh.some(({ credential, resource, response }) => {
          const { status } = (response ?? {}) as DaemonRollout;
          const isTheirs = credential === undefined || credentials.has(credential);
          return (
            isTheirs &&
            resource === 'daemonrollouts/status' &&
            (status?.reservations?.some(({ carriedOut }) => !carriedOut) ?? false)
          );
        })
      );
    },
    2 * MIDWAY_MS,
    10,
  );
};

/** Records that this manager, or both, may not observe what happens during `work`. */
const duringOutage = async (
  pair: ManagerPair,
  slot: ManagerSlot | undefined,
  catchUpMs: number,
  work: () => Promise<void>,
): Promise<void> => {
  const endOutage = pair.beginOutage(slot, catchUpMs);
  try {
    await work();
  } finally {
    endOutage();
  }
};

const disturbLink = async (
  { pair }: ChaosContext,
  operation: Extract<Operation, { do: 'cut' | 'stall' | 'slow' | 'reset' }>,
): Promise<string> => {
  const slot = await pair.find(operation.who);
  const { link } = slot;
  await untilRecovered(`${slot.name} has connections`, () => link.open > 0);
  const open = link.open;
  const work = async (): Promise<void> => {
    if (operation.do === 'reset') {
      for (let count = 0; count < operation.times; count += 1) {
        link.reset();
        await sleep(RESET_EVERY_MS);
      }
      return;
    }
    if (operation.do === 'slow') link.slow({ latencyMs: operation.latencyMs });
    else link[operation.do]();
    try {
      await sleep(operation.forMs);
    } finally {
      link.restore();
    }
  };
  await duringOutage(pair, slot, CATCH_UP_MS.wire, work);
  return `${slot.name}, with ${open} connections`;
};

const interruptManager = async (
  context: ChaosContext,
  operation: Extract<Operation, { do: 'kill' | 'stop' }>,
): Promise<string> => {
  const { pair } = context;
  const slot = await pair.find(operation.who);
  if (operation.midway) await untilMidway(context, slot);
  const { manager, identity } = slot;
  if (operation.do === 'kill') {
    manager.kill('SIGKILL');
    await manager.exit;
    await untilRecovered('another process replaces it', () => slot.manager !== manager);
    return slot.name;
  }
  let succeeded = false;
  await duringOutage(pair, slot, CATCH_UP_MS.process, async () => {
    manager.pause();
    const end = performance.now() + operation.forMs;
    try {
      await until(
        'the manager has been stopped long enough',
        async () => {
          succeeded ||= (await pair.holder().catch(() => identity)) !== identity;
          return performance.now() >= end && (succeeded || operation.forMs < PAST_LEASE_MS);
        },
        operation.forMs + TIMEOUT_MS,
      );
    } finally {
      manager.resume();
    }
  });
  return `${slot.name}, ${succeeded ? 'succeeded' : 'not succeeded'}`;
};

const takeOffline = async (
  { cluster, nodes }: ChaosContext,
  numbers: readonly number[],
  forMs: number,
): Promise<void> => {
  const names = numbers.flatMap((number) => nodes[number] ?? []);
  try {
    await retry('nodes go offline', () => cluster.offline(names));
    await sleep(forMs);
  } finally {
    await retry('nodes come back', () => cluster.online(names));
  }
};

const recreateNode = async ({ cluster, api, nodes, nodeLabels }: ChaosContext, number: number): Promise<void> => {
  const name = nodes[number] ?? '';
  const find = (): Promise<Node | undefined> => api.find<Node>(`/api/v1/nodes/${name}`);
  await retry('a node is removed', () => cluster.removeNodes([name]));
  // A simulated kubelet that has not noticed the deletion would take the new node for the old one, and then drop it.
  const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`;
  await untilRecovered('the node and its lease are gone', async () => (await api.find(lease)) === undefined);
  await retry('it is made again', async () => {
    if ((await find()) === undefined) await cluster.addNodes([name], { labels: nodeLabels });
  });
  await retry('it is ready', () => cluster.online([name]));
};

/** Performs an operation and reverts it. Resolves with what it affected; rejects if it did not take effect. */
export const perform = async (context: ChaosContext, operation: Operation): Promise<string> => {
  const { cluster, api, nodes, pair, daemonSets, watcher } = context;
  switch (operation.do) {
    case 'kill':
    case 'stop':
      return interruptManager(context, operation);
    case 'cut':
    case 'stall':
    case 'slow':
    case 'reset':
      return disturbLink(context, operation);
    case 'restart-api': {
      const breaks = watcher.breaks();
      await duringOutage(pair, undefined, CATCH_UP_MS.process, () => cluster.restartApiServer());
      await untilRecovered('watches broke', () => watcher.breaks() > breaks);
      return '';
    }
    case 'hold-native':
      cluster.nativeController.pause();
      try {
        await sleep(operation.forMs);
      } finally {
        cluster.nativeController.resume();
      }
      return '';
    case 'offline':
      await takeOffline(context, operation.nodes, operation.forMs);
      return '';
    case 'recreate-node':
      await recreateNode(context, operation.node);
      return '';
    case 'delete-pods': {
      const names = new Set(operation.nodes.map((number) => nodes[number]));
      let removed = 0;
      await untilRecovered('a pod is deleted by hand', async () => {
        for (const { name, node, terminating, object } of await daemonSets.pods(operation.set))
          if (names.has(node) && !terminating)
            removed += Number(await api.remove(`/api/v1/namespaces/${object.metadata?.namespace}/pods/${name}`));
        return removed > 0;
      });
      return `${removed} pods`;
    }
    case 'release':
      await retry('a version is released', () => daemonSets.release(operation.set, operation.image));
      return '';
    case 'bad-version': {
      const from = watcher.observations.length;
      await retry('a bad version is released', () => daemonSets.release(operation.set, operation.bad));
      const isBroken = ({ spec, status }: Pod): boolean =>
        spec?.containers.some(({ image }) => image === operation.bad) === true &&
        (status?.phase === 'Failed' ||
          status?.containerStatuses?.some(({ state }) => state?.waiting?.reason?.match(/BackOff$/)) === true);
      try {
        await until(
          'the bad version has broken a pod',
          () =>
            watcher.observations
              .slice(from)
              .some(({ resource, response }) => resource === 'pods' && isBroken(response as Pod)),
          TIMEOUT_MS,
        );
        await sleep(operation.forMs);
      } finally {
        await retry('a good version is released', () => daemonSets.release(operation.set, operation.image));
      }
      return '';
    }
    case 'pause':
      await retry('a version is released', () => daemonSets.release(operation.set, operation.image));
      await sleep(1_500);
      try {
        await retry('updates are paused', () => daemonSets.roll(operation.set, { paused: true }));
        await sleep(operation.forMs);
      } finally {
        await retry('updates continue', () => daemonSets.roll(operation.set, { paused: null }));
      }
      return '';
    case 'partition':
      try {
        await retry('a partition is set', () => daemonSets.roll(operation.set, { partition: operation.nodes }));
        await retry('a version is released', () => daemonSets.release(operation.set, operation.image));
        await sleep(operation.forMs);
      } finally {
        await retry('the partition is lifted', () => daemonSets.roll(operation.set, { partition: null }));
      }
      return '';
    case 'budget':
      await retry('the budget is changed', () =>
        daemonSets.roll(operation.set, daemonSets.budgetOf(operation.set, operation.nodes)),
      );
      return '';
  }
};
