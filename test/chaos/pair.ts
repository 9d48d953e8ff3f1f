import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { AuditRecord, Cluster, Link, Manager } from '../conformance/index.ts';
import type { Api } from '../conformance/kit/api.ts';
import { electing } from '../conformance/kit/leading.ts';
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
interface Spell {
  from: number;
  to: number;
  /** Until it has caught up. */
  catchUpMs: number;
}

/** The place of one of two managers. Whoever sits there speaks through the same link. */
export interface Seat {
  readonly name: string;
  readonly link: Link;
  manager: Manager;
  identity: string;
  readonly credentials: Set<string>;
  readonly spells: Spell[];
}

interface Started {
  manager: Manager;
  identity: string;
}

const identityIn = (log: string): string | undefined => /"identity":"([^"]+)"/.exec(log)?.[1];

/** Two managers that compete for one lease; whoever ends is replaced, as a kubelet does it. */
export const startPair = async (cluster: Cluster, api: Api, namespace: string) => {
  const seats: Seat[] = [];
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
      ...electing,
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
  const sit = (seat: Seat, { manager, identity }: Started): void => {
    seat.manager = manager;
    seat.identity = identity;
    if (manager.credential !== undefined) seat.credentials.add(manager.credential);
  };
  const keep = async (seat: Seat): Promise<void> => {
    while (isOpen) {
      await seat.manager.exit;
      let next: Started | undefined;
      while (isOpen && !next) next = await startManager(seat.link);
      if (next) sit(seat, next);
    }
  };
  const openSeat = async (name: string): Promise<Seat> => {
    const link = await cluster.link();
    const started = await startManager(link);
    if (!started) throw new Error('a manager ended as soon as it was started');
    const seat: Seat = { name, link, ...started, credentials: new Set(), spells: [] };
    sit(seat, started);
    return seat;
  };
  for (const name of ['A', 'B']) seats.push(await openSeat(name));
  const kept = seats.map(async (seat) =>
    keep(seat).catch((error: unknown) => {
      if (isOpen) troubles.push(`nobody takes the place of ${seat.name}: ${String(error)}`);
    }),
  );

  const holder = async (): Promise<string> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgeset-manager`;
    return (await api.get<Lease>(path)).spec?.holderIdentity ?? '';
  };

  /** Since the spell of the caller that began first, of those that had not been over for long. */
  const longest = ({ credential, receivedAt: at }: AuditRecord, overMs: (spell: Spell) => number): number => {
    const callers = seats.filter(({ credentials }) => credential === undefined || credentials.has(credential));
    const spells = callers.flatMap((seat) => seat.spells);
    const met = spells.filter((spell) => spell.from <= at && at <= spell.to + overMs(spell));
    return Math.max(0, ...met.map(({ from }) => at - from));
  };

  return {
    managers: managers as readonly Manager[],
    /** Of the places, not of who sits there. */
    troubles: troubles as readonly string[],
    holder,
    /** When who was away, with the credentials of all who sat there. */
    absences: () => seats.map(({ name, credentials, spells }) => ({ name, credentials: [...credentials], spells })),
    /** As soon as one of the two leads. */
    async find(who: Who): Promise<Seat> {
      const leader = await until(
        'one of the two leads',
        async () => {
          const name = await holder();
          return seats.find(({ identity }) => identity === name);
        },
        90_000,
      );
      return seats.find((seat) => (seat === leader) === (who === 'leader')) ?? leader;
    },
    /** Takes down that this manager, or every one, may not learn what happens; call what it gives back when it does again. */
    blind(seat: Seat | undefined, catchUpMs: number): () => void {
      const spell: Spell = { from: Date.now(), to: Number.POSITIVE_INFINITY, catchUpMs };
      for (const one of seats) if (seat === undefined || seat === one) one.spells.push(spell);
      return () => {
        spell.to = Date.now();
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
      await Promise.all(seats.map(({ link }) => link.close()));
    },
  };
};
export type Pair = Awaited<ReturnType<typeof startPair>>;
