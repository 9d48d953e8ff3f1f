import { type Clock, silentLogger, systemClock } from '../../runtime/index.ts';
import type { Fleet } from '../fleet.ts';
import { createKeyGate } from '../key-gate.ts';
import type {
  CommandResult,
  NodeCell,
  NodeDetails,
  RolloutEvents,
  RolloutHead,
  RolloutMessage,
  RolloutRow,
} from '../messages.ts';
import { startDashboardServer } from '../server.ts';

/** A dashboard that starts again has another one; a test may continue with the page that it opened before. */
export const KEY = 'the-key-of-the-test';

export const row: RolloutRow = {
  namespace: 'shop',
  name: 'web',
  kind: 'ds',
  state: 'halted',
  status: 'Halted',
  why: 'The rollout is halted: the target revision failed on 1 node: shop-1.',
  target: '6d8c9f7b5',
  version: { from: '1.0', to: '2.0', changed: 1, images: [{ name: 'web', from: '1.0', to: '2.0' }] },
  strategy: 'auto',
  nodes: { eligible: 2, online: 1, updated: 1, offline: 1 },
  budget: { inUse: 0, limit: 1 },
};

export const head: RolloutHead = {
  namespace: row.namespace,
  name: row.name,
  kind: row.kind,
  target: row.target,
  version: row.version,
  strategy: row.strategy,
  budget: row.budget,
  title: 'DaemonSet',
  headline: {
    state: 'running',
    badge: 'Rolling out: 100%',
    title: 'Version 2.0 is rolling out',
    evidence: '1 of 1 online node runs it.',
    commands: [],
  },
  revision: 2,
  settings: { maxUnavailable: '10%', partition: '0', failureThreshold: '3%', warnings: [] },
  breaker: { failures: 0, suspects: 0, haltsAt: 3 },
  eligible: 2,
  online: 1,
  phases: { updated: 1, updating: 0, outdated: 0, broken: 0, offline: 1, settling: 0, held: 0, failed: 0, missing: 0 },
  causes: [],
  notes: ['The manager has not observed the current template yet.'],
  revisions: [],
  history: [],
  marks: [],
};

export const cells: readonly NodeCell[] = [
  ['shop-1', 'updated', 'current', '6d8c9f7b5', 0, 0, '', ''],
  ['shop-2', 'offline', 'offline', '5b69c76c6', 0, 0, '', ''],
];

/** The details of a node for who may not read it, nor its Events. */
const hiddenDetails: NodeDetails = {
  node: 'shop-1',
  phase: 'updated',
  cause: 'current',
  what: 'It runs the target.',
  remedy: '',
  pods: [],
  conditions: [],
  labels: {},
  events: [],
  missing: ['the node: nodes "shop-1" is forbidden', 'Events: events is forbidden'],
};

/** What the dashboard knows; undefined for nothing yet. */
export interface FakeFleet {
  rows: readonly RolloutRow[] | undefined;
  rollout: RolloutMessage | undefined;
  /** Of every node. Default: of one that the user may not read. */
  details?: NodeDetails;
  /** About the rollout. Default: none. */
  events?: RolloutEvents;
  /** On every node. Default: none. */
  labels?: Readonly<Record<string, string>>;
  /** In place of `labels`: the keys, or the value of one on each node. */
  labelsOf?: (key: string | undefined) => Awaited<ReturnType<Fleet['labels']>>;
  /** Of every command. Default: that it is forbidden. */
  result?: Omit<CommandResult, 'typed'>;
}

/** The dashboard's server and page with a fleet that says what it is told, to somebody who may change nothing. */
export const serveFleet = async (known: FakeFleet, port = 0, clock: Clock = systemClock) => {
  const { rows, rollout, details = hiddenDetails, labels = {} } = known;
  const silent = () => () => undefined;
  const listeners = new Set<(message: RolloutMessage) => void>();
  const fleet: Fleet = {
    run: async ({ command }) => ({
      typed: `kubectl edgeset ${command} ds/web`,
      ...(known.result ?? { failed: true, output: 'daemonsets.apps "web" is forbidden\n', notes: [] }),
    }),
    now: () => systemClock.now(),
    trouble: () => '',
    overview: async () => ({
      subscribe(listener) {
        if (rows) listener({ type: 'rollouts', rows });
        return silent();
      },
    }),
    rollout: ({ kind }) =>
      kind === 'ds'
        ? {
            feed: {
              reading: () => undefined,
              subscribe(listener) {
                if (rollout) listener(rollout);
                listeners.add(listener);
                return () => listeners.delete(listener);
              },
            },
            done: () => undefined,
          }
        : undefined,
    node: async (_feed, _namespace, node) => ({ ...details, node }),
    events: async () => known.events ?? { events: [], missing: [] },
    labels: async (key) =>
      known.labelsOf
        ? known.labelsOf(key)
        : key === undefined
          ? Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, [value]]))
          : Object.fromEntries(cells.map(([name]) => [name, labels[key] ?? ''])),
    close: async () => undefined,
  };
  const gate = createKeyGate({ clock, fleet, key: KEY });
  const server = await startDashboardServer({
    env: { clock: systemClock, random: () => 0.5, log: silentLogger },
    listen: { host: '127.0.0.1', port },
    gate,
    trouble: () => '',
    page: async () => (await import('#fleet-page')).fleetPage(),
    toListenError: (_address, cause) => cause,
  });
  /** Of an address that opens one page. */
  const entry = (): string => `/#code=${gate.newCode()}`;
  /** Tells the pages that look at the rollout. */
  const tell = (message: RolloutMessage): void => {
    for (const listener of listeners) listener(message);
  };
  return { ...server, origin: `http://127.0.0.1:${server.port}`, gate, entry, tell };
};
