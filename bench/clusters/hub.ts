import { type ClusterContact, type Reach, type ReachTerms, reachOf } from '../../src/reach/index.ts';
import type { Timer, VirtualClock } from '../../src/runtime/index.ts';
import { GENERATION, type Member } from './member.ts';
import { type ClusterStatus, decideRollout, statusOf, type WorkConditions } from './rollout-rules.ts';
import { MINUTE, RINGS, SECOND, type Setting } from './scenario.ts';

/** The hub gives a cluster up after five lease durations without a renewal. */
const GRACE_MS = 5 * MINUTE;
/** How long after the last renewal a cluster may have had contact, as `edgeset reach` reads it. */
const LATE_MS = 2 * MINUTE;
/** For so long `edgeset reach` leaves a cluster that is gone in its ring, to see whether most of the others go with it. */
const SPREAD_MS = 2 * MINUTE;
/** What happens within it, the controllers of the hub see as one change. */
const LAG_MS = SECOND;

/** What the hub knows of a member. */
interface Row {
  member: Member;
  contact: ClusterContact;
  changedAt: number;
  backAt: number | undefined;
  lastRenewal: number;
  /** The ManifestWork of the new version; undefined: still of the old one, or none. */
  work: { at: number; conditions: WorkConditions } | undefined;
  label: { reach: Reach; at: number };
}

export interface Hub {
  add(member: Member): void;
  /** The generation of the member's work, once it is of the new version. */
  wanted(member: Member): number | undefined;
  renewed(member: Member): void;
  silent(member: Member, lastRenewal: number): void;
  reported(member: Member, conditions: WorkConditions): void;
  /** Changes the template of the ManifestWorkReplicaSet. */
  release(): void;
}

/** The hub of Open Cluster Management: leases, Placement and rollout; and `edgeset reach` where the setting has it. */
export const createHub = (
  clock: VirtualClock,
  { strategy, tolerates, reach }: Setting,
  stripped: (member: Member) => void,
): Hub => {
  const rows = new Map<string, Row>();
  /** Of the clusters whose work is of the new version. */
  const statuses = new Map<string, ClusterStatus>();
  let released = false;
  let queued = false;
  let recheck: Timer | undefined;

  /** By the selectors of the decision groups. */
  const isInRing = ({ label }: Row): boolean => !reach || label.reach === 'online' || label.reach === 'suspect';

  const relabel = (row: Row, terms: ReachTerms): void => {
    const { member, contact, work, label } = row;
    const now = clock.now();
    const status = statuses.get(member.name)?.status;
    const updates = work
      ? [{ name: 'work', at: work.at, finished: status === 'Succeeded', failed: status === 'Failed' }]
      : [];
    const decision = reachOf({ contact, updates, label, backAt: row.backAt }, terms, now);
    const again = (at: number): void => void clock.timer(at - now, () => relabel(row, terms));
    if (decision.changesAt !== undefined) again(decision.changesAt);
    if (decision.reach === label.reach) return;
    if (label.reach === 'online' && decision.cause === 'went-away' && now < row.changedAt + SPREAD_MS) {
      again(row.changedAt + SPREAD_MS);
      return;
    }
    const had = isInRing(row);
    row.label = { reach: decision.reach, at: now };
    if (isInRing(row) !== had) wake();
  };

  const changeContact = (row: Row, contact: ClusterContact): void => {
    row.contact = contact;
    row.changedAt = clock.now();
    if (contact.state === 'available') row.backAt = row.changedAt;
    if (reach) relabel(row, reach);
    if (tolerates) return;
    // Its taint keeps it from being selected. What is in a cluster goes with its work.
    if (contact.state === 'gone') {
      row.work = undefined;
      statuses.delete(row.member.name);
    } else {
      row.member.strip();
      stripped(row.member);
    }
    wake();
  };

  /** The decision groups of the Placement: clusters that no ring selects are the last one. */
  const groups = (): string[][] => {
    const rings: string[][] = RINGS.map(() => []);
    const rest: string[] = [];
    for (const row of rows.values()) {
      const { member, contact } = row;
      if (!tolerates && contact.state === 'gone') continue;
      ((isInRing(row) ? rings[member.ring] : undefined) ?? rest).push(member.name);
    }
    return [...rings, rest];
  };

  const reconcile = (): void => {
    queued = false;
    if (!released) return;
    const decision = decideRollout(strategy, groups(), statuses, clock.now());
    for (const { cluster, status } of decision.rollout) {
      const row = rows.get(cluster);
      if (status !== 'ToApply' || !row || row.work) continue;
      row.work = { at: clock.now(), conditions: {} };
      statuses.set(cluster, { cluster, status });
      row.member.wake();
    }
    recheck?.cancel();
    recheck = decision.recheckAfter === undefined ? undefined : clock.timer(decision.recheckAfter, wake);
  };

  const wake = (): void => {
    if (queued) return;
    queued = true;
    clock.timer(LAG_MS, reconcile);
  };

  const rowOf = ({ name }: Member): Row => {
    const row = rows.get(name);
    if (!row) throw new Error(`the hub does not know ${name}`);
    return row;
  };

  return {
    add(member) {
      const long = Number.NEGATIVE_INFINITY;
      const contact: ClusterContact = member.online
        ? { state: 'available', since: long }
        : { state: 'gone', lastContact: long, dueBy: long };
      const label = { reach: member.online ? ('online' as const) : ('away' as const), at: long };
      rows.set(member.name, {
        member,
        contact,
        changedAt: long,
        backAt: undefined,
        lastRenewal: long,
        work: undefined,
        label,
      });
    },
    wanted: (member) => (rowOf(member).work ? GENERATION : undefined),
    renewed(member) {
      const row = rowOf(member);
      row.lastRenewal = clock.now();
      if (row.contact.state === 'gone') changeContact(row, { state: 'available', since: clock.now() });
    },
    silent(member, lastRenewal) {
      const row = rowOf(member);
      row.lastRenewal = lastRenewal;
      clock.timer(lastRenewal + GRACE_MS - clock.now(), () => {
        if (row.lastRenewal !== lastRenewal || row.contact.state === 'gone') return;
        changeContact(row, { state: 'gone', lastContact: lastRenewal, dueBy: lastRenewal + LATE_MS });
      });
    },
    reported(member, conditions) {
      const { work } = rowOf(member);
      if (!work) return;
      const { progressing, degraded } = work.conditions;
      // A condition keeps the time of its transition.
      const kept = <T extends { status: string }>(old: T | undefined, next: T | undefined): T | undefined =>
        old?.status === next?.status ? old : next;
      work.conditions = {
        applied: conditions.applied,
        progressing: kept(progressing, conditions.progressing),
        degraded: kept(degraded, conditions.degraded),
      };
      statuses.set(member.name, { cluster: member.name, ...statusOf(GENERATION, work.conditions) });
      wake();
    },
    release() {
      released = true;
      wake();
    },
  };
};
