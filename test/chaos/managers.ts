import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { AuditRecord, Cluster, Link, Manager } from '../conformance/index.ts';
import type { Api } from '../conformance/kit/api.ts';
import { leaderElectionArgs } from '../conformance/kit/leader-election.ts';
import { until } from '../conformance/kit/until.ts';
import type { Who } from './plan.ts';

/** What the judge takes a process to know at any time: the default of its own. */
const LAG_MS = 1_000;
/**
 * After a process is awake, or the API server back, what was missed is learned within so long; and after a wire is well
 * again: watches are tried again at growing intervals.
 */
export const CATCH_UP_MS = { process: 5_000, wire: 15_000 } as const;
/** What was held back arrives within so long after its caller woke, or its wire was well again. */
const ARRIVAL_MS = 5_000;

/** A time in which a manager may not have learned what happened. */
interface Outage {
  from: number;
  to: number;
  /** Until it has caught up. */
  catchUpMs: number;
}

/** The place of one of two managers. Whoever sits there speaks through the same link. */
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

/** Two managers that compete for one lease; whoever ends is replaced, as a kubelet does it. */
export const startManagers = async (cluster: Cluster, api: Api, namespace: string) => {
  const slots: ManagerSlot[] = [];
  const managers: Manager[] = [];
  const gone = new Set<Manager>();
  const troubles: string[] = [];
  let isOpen = true;

  /** Undefined: it ended before it said who it is. */
  const startManager = async (link: Link): Promise<Started | undefined> => {
    const args = [
      `--namespaces=${namespace}`,
      `--leader-election-namespace=${namespace}`,
      '--log-format=json',
      '--controllers=native,advanced',
      ...leaderElectionArgs,
    ];
    // It asks the API server for a token, which may be away.
    const manager = await until('a manager is started', () => cluster.startManager({ namespace, link, args }), 90_000);
    managers.push(manager);
    void manager.exit.then(() => gone.add(manager));
    await until(
      'the manager says who it is',
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
  const keep = async (slot: ManagerSlot): Promise<void> => {
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
    if (!started) throw new Error('a manager ended as soon as it was started');
    const slot: ManagerSlot = { name, link, ...started, credentials: new Set(), outages: [] };
    assign(slot, started);
    return slot;
  };
  for (const name of ['A', 'B']) slots.push(await openSlot(name));
  const kept = slots.map(async (slot) =>
    keep(slot).catch((error: unknown) => {
      if (isOpen) troubles.push(`nobody takes the place of ${slot.name}: ${String(error)}`);
    }),
  );

  const holder = async (): Promise<string> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgeset-manager`;
    return (await api.get<Lease>(path)).spec?.holderIdentity ?? '';
  };

  /** Since the outage of the caller that began first, of those that had not been over for long. */
  const longest = ({ credential, receivedAt: at }: AuditRecord, overMs: (outage: Outage) => number): number => {
    const callers = slots.filter(({ credentials }) => credential === undefined || credentials.has(credential));
    const outages = callers.flatMap((slot) => slot.outages);
    const met = outages.filter((outage) => outage.from <= at && at <= outage.to + overMs(outage));
    return Math.max(0, ...met.map(({ from }) => at - from));
  };

  return {
    managers: managers as readonly Manager[],
    /** Of the places, not of who sits there. */
    troubles: troubles as readonly string[],
    holder,
    /** When who was away, with the credentials of all who sat there. */
    absences: () => slots.map(({ name, credentials, outages }) => ({ name, credentials: [...credentials], outages })),
    /** As soon as one of the two leads. */
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
    /** Takes down that this manager, or every one, may not learn what happens; call what it gives back when it does again. */
    beginOutage(slot: ManagerSlot | undefined, catchUpMs: number): () => void {
      const outage: Outage = { from: Date.now(), to: Number.POSITIVE_INFINITY, catchUpMs };
      for (const one of slots) if (slot === undefined || slot === one) one.outages.push(outage);
      return () => {
        outage.to = Date.now();
      };
    },
    /** How long before this call what happened may be unknown to its caller. */
    lagOf: (call: AuditRecord): number => LAG_MS + longest(call, ({ catchUpMs }) => catchUpMs),
    /** How long before it arrived the call may have been decided on. */
    heldBackMs: (call: AuditRecord): number => longest(call, () => ARRIVAL_MS),
    async close(): Promise<void> {
      isOpen = false;
      for (const manager of managers) manager.kill('SIGKILL');
      await Promise.all(kept);
      await Promise.all(slots.map(({ link }) => link.close()));
    },
  };
};
export type ManagerPair = Awaited<ReturnType<typeof startManagers>>;
