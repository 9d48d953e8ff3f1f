import { type Clock, silentLogger, systemClock } from '../../runtime/index.ts';
import type { Fleet } from '../fleet.ts';
import { createKeyGate } from '../key-gate.ts';
import type { NodeCell, NodeDetails, RolloutHead, RolloutMessage, RolloutRow } from '../messages.ts';
import { startDashboardServer } from '../server.ts';

/** A dashboard that starts again has another one; a test may continue with the page that it opened before. */
export const KEY = 'the-key-of-the-test';

export const row: RolloutRow = {
  namespace: 'shop',
  name: 'web',
  kind: 'ds',
  status: 'Halted',
  doubtful: false,
  target: '6d8c9f7b5',
  strategy: 'auto',
  nodes: { eligible: 2, online: 1, updated: 1, offline: 1 },
  budget: { inUse: 0, limit: 1 },
  halted: true,
  paused: false,
  complete: false,
};

export const head: RolloutHead = {
  ...row,
  title: 'DaemonSet',
  online: 1,
  phases: { updated: 1, updating: 0, outdated: 0, broken: 0, offline: 1, settling: 0, held: 0, failed: 0, missing: 0 },
  causes: [],
  sentences: ['shop/web: 1 of 1 online nodes run web-6d8c9f7b5; 1 offline.'],
  revisions: [],
  history: [],
  marks: [],
};

export const cells: readonly NodeCell[] = [
  ['shop-1', 'updated', 'current', '6d8c9f7b5', 0, 0, ''],
  ['shop-2', 'offline', 'offline', '5b69c76c6', 0, 0, ''],
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
  /** On every node. Default: none. */
  labels?: Readonly<Record<string, string>>;
  /** What a command prints. Default: that it is forbidden. */
  output?: string;
}

/** The dashboard's server and page with a fleet that says what it is told, to somebody who may change nothing. */
export const serveFleet = async (known: FakeFleet, port = 0, clock: Clock = systemClock) => {
  const { rows, rollout, details = hiddenDetails, labels = {} } = known;
  const silent = () => () => undefined;
  const listeners = new Set<(message: RolloutMessage) => void>();
  const fleet: Fleet = {
    run: async ({ command }) => ({
      typed: `kubectl edgeset ${command} ds/web`,
      failed: true,
      output: known.output ?? `kubectl edgeset: daemonsets.apps "web" is forbidden\n`,
    }),
    now: () => systemClock.now(),
    trouble: () => '',
    overview: async () => ({
      subscribe(listener) {
        if (rows) listener({ type: 'rollouts', rows });
        return silent();
      },
    }),
    rollout: (_namespace, kind) =>
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
    node: async () => details,
    labels: async (key) =>
      key === undefined ? Object.keys(labels) : Object.fromEntries(cells.map(([name]) => [name, labels[key] ?? ''])),
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
