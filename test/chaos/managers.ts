import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { AuditRecord, Cluster, Link, Manager } from '../conformance/index.ts';
import type { Api } from '../conformance/kit/api.ts';
import { leaderElectionArgs } from '../conformance/kit/leader-election.ts';
import { until } from '../conformance/kit/until.ts';
import type { Who } from './plan.ts';

/** A process may not have observed what happened within this time: the default of the checks. */
const LAG_MS = 1_000;
/**
 * How long a manager takes to observe what it missed, after its process continues or the API server is back, and after its
 * link is restored: watches are retried with back-off.
 */
export const CATCH_UP_MS = { process: 5_000, wire: 15_000 } as const;
/** How long a call that was held back takes to arrive after its caller continues, or its link is restored. */
const ARRIVAL_MS = 5_000;

/** A period in which a manager may not have observed what happened. */
interface Outage {
  from: number;
  to: number;
  /** Until it has caught up. */
  catchUpMs: number;
}

/** One of the two managers. A process that replaces another one uses the same link. */
export interface ManagerSlot {
  readonly name: string;
  readonly link: Link;
  manager: Manager;
  identity: string;
  readonly credentials: Set<string>;
  readonly outages: Outage[];
}

interface Started {
  manager: Manager;
  identity: string;
}

const identityIn = (log: string): string | undefined => /"identity":"([^"]+)"/.exec(log)?.[1];

/** Two managers that compete for one lease. A process that ends is replaced, as by a kubelet. */
export const startManagers = async (cluster: Cluster, api: Api, namespace: string) => {
  const slots: ManagerSlot[] = [];
  const managers: Manager[] = [];
  const gone = new Set<Manager>();
  const problems: string[] = [];
  let isOpen = true;

  /** Undefined: it ended before it logged its identity. */
  const startManager = async (link: Link): Promise<Started | undefined> => {
    const args = [
      `--namespaces=${namespace}`,
      `--leader-election-namespace=${namespace}`,
      '--log-format=json',
      '--controllers=native,advanced',
      ...leaderElectionArgs,
    ];
    // Needs a token from the API server, which may be down.
    const manager = await until('a manager is started', () => cluster.startManager({ namespace, link, args }), 90_000);
    managers.push(manager);
    void manager.exit.then(() => gone.add(manager));
    await until(
      'the manager logs its identity',
      async () => gone.has(manager) || identityIn(await manager.log()) !== undefined,
      90_000,
      50,
    );
    const identity = identityIn(await manager.log());
    return identity === undefined ? undefined : { manager, identity };
  };
  const assign = (slot: ManagerSlot, { manager, identity }: Started): void => {
    slot.manager = manager;
    slot.identity = identity;
    if (manager.credential !== undefined) slot.credentials.add(manager.credential);
  };
  const keepRunning = async (slot: ManagerSlot): Promise<void> => {
    while (isOpen) {
      await slot.manager.exit;
      let next: Started | undefined;
      while (isOpen && !next) next = await startManager(slot.link);
      if (next) assign(slot, next);
    }
  };
  const openSlot = async (name: string): Promise<ManagerSlot> => {
    const link = await cluster.link();
    const started = await startManager(link);
    if (!started) throw new Error('a manager ended immediately after its start');
    const slot: ManagerSlot = { name, link, ...started, credentials: new Set(), outages: [] };
    assign(slot, started);
    return slot;
  };
  for (const name of ['A', 'B']) slots.push(await openSlot(name));
  const running = slots.map(async (slot) =>
    keepRunning(slot).catch((error: unknown) => {
      if (isOpen) problems.push(`manager ${slot.name} could not be replaced: ${String(error)}`);
    }),
  );

  const holder = async (): Promise<string> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgeset-manager`;
    return (await api.get<Lease>(path)).spec?.holderIdentity ?? '';
  };

  /** The time since the earliest outage of the caller that had not been over for long. */
  const longest = ({ credential, receivedAt: at }: AuditRecord, overMs: (outage: Outage) => number): number => {
    const callers = slots.filter(({ credentials }) => credential === undefined || credentials.has(credential));
    const outages = callers.flatMap((slot) => slot.outages);
    const met = outages.filter((outage) => outage.from <= at && at <= outage.to + overMs(outage));
    return Math.max(0, ...met.map(({ from }) => at - from));
  };

  return {
    managers: managers as readonly Manager[],
    problems: problems as readonly string[],
    holder,
    /** The outages of each manager, with the credentials of its processes. */
    absences: () => slots.map(({ name, credentials, outages }) => ({ name, credentials: [...credentials], outages })),
    /** Waits until one of the two leads. */
    async find(who: Who): Promise<ManagerSlot> {
      const leader = await until(
        'one of the two leads',
        async () => {
          const name = await holder();
          return slots.find(({ identity }) => identity === name);
        },
        90_000,
      );
      return slots.find((slot) => (slot === leader) === (who === 'leader')) ?? leader;
    },
    /** Records that this manager, or both, may not observe what happens, until the returned function is called. */
    beginOutage(slot: ManagerSlot | undefined, catchUpMs: number): () => void {
      const outage: Outage = { from: Date.now(), to: Number.POSITIVE_INFINITY, catchUpMs };
      for (const one of slots) if (slot === undefined || slot === one) one.outages.push(outage);
      return () => {
        outage.to = Date.now();
      };
    },
    /** The caller may not have observed what happened within this time before the call. */
    lagOf: (call: AuditRecord): number => LAG_MS + longest(call, ({ catchUpMs }) => catchUpMs),
    /** How long before its arrival the call may have been decided. */
    heldBackMs: (call: AuditRecord): number => longest(call, () => ARRIVAL_MS),
    async close(): Promise<void> {
      isOpen = false;
      for (const manager of managers) manager.kill('SIGKILL');
      await Promise.all(running);
      await Promise.all(slots.map(({ link }) => link.close()));
    },
  };
};
export type ManagerPair = Awaited<ReturnType<typeof startManagers>>;
