import { isDeepStrictEqual } from 'node:util';
import { findCycles, type Ledger, type Preceding, type Predecessor, waitsFor } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';

/** Names a DaemonSet of any kind. */
export interface OrderedDaemonSet {
  apiGroup: string;
  namespace: string;
  name: string;
}

/** A DaemonSet that takes part in the order. */
export interface OrderMember extends OrderedDaemonSet {
  ledger: Pick<Ledger, 'policy' | 'get' | 'records'>;
  setWaitsFor: Ledger['setWaitsFor'];
  /** The ledger has the target of the DaemonSet's present template. */
  isCurrent: () => boolean;
  isComplete: () => boolean;
  /** Something about it cannot be computed. */
  isUnknown: () => boolean;
  /** What its nodes wait for has changed. */
  changed: () => void;
}

const keyOf = (apiGroup: string, namespace: string, name: string): string => `${apiGroup}/${namespace}/${name}`;

/** What the plan of a managed DaemonSet says, and whether it leads in a cycle. */
interface Written {
  daemonSet: OrderedDaemonSet;
  after: readonly Predecessor[];
  cycle: readonly string[] | undefined;
}

/**
 * The order between the updates of DaemonSets, of all kinds: which of them are managed, and what their nodes wait for. One
 * for all controllers of a process.
 */
export interface Order {
  /** The DaemonSet is managed from now on, until the returned function is called. */
  join(member: OrderMember): () => void;
  /** `listener` is called with each DaemonSet that another's plan brought into a cycle, or out of it. Returns a function that ends this. */
  onChange(listener: (daemonSet: OrderedDaemonSet) => void): () => void;
  /** What the plan of a managed DaemonSet says in `after`, as it is written. Returns the cycle that it leads in. */
  setAfter(daemonSet: OrderedDaemonSet, after: readonly Predecessor[]): readonly string[] | undefined;
  /** Its plan may have changed. */
  planChanged(member: OrderMember): void;
  /** Nodes of its own were added or have changed. */
  nodesAdded(member: OrderMember, nodes: Iterable<string>): void;
  /** The node's status has changed in a way that matters to those that wait for it. */
  nodeChanged(member: OrderMember, node: string): void;
  /** Its template has changed, the target of that is known, its rollout became complete or no longer is, or it became unknown or known. */
  rolloutChanged(member: OrderMember): void;
}

export const createOrder = (clock: Pick<Clock, 'now'>): Order => {
  const members = new Map<string, OrderMember>();
  /** By the key of a DaemonSet: the keys of those whose plans name it. */
  const followers = new Map<string, Set<string>>();
  /** By the key of a DaemonSet. A plan that is invalid takes part in cycles as one that is in force. */
  const written = new Map<string, Written>();
  const listeners = new Set<(daemonSet: OrderedDaemonSet) => void>();

  const keyOfMember = ({ apiGroup, namespace, name }: OrderedDaemonSet): string => keyOf(apiGroup, namespace, name);
  const predecessorsOf = ({ ledger }: OrderMember): readonly Predecessor[] => ledger.policy.plan?.after ?? [];

  const toPreceding = ({ ledger, isCurrent, isComplete, isUnknown }: OrderMember): Preceding => ({
    statusOf: (node) => ledger.get(node)?.status,
    isCurrent,
    isComplete,
    isUnknown,
  });

  const check = (member: OrderMember, nodes: Iterable<string>): void => {
    const predecessors = predecessorsOf(member);
    const find = ({ apiGroup, name }: Predecessor): Preceding | undefined => {
      const found = members.get(keyOf(apiGroup, member.namespace, name));
      return found && toPreceding(found);
    };
    for (const node of nodes) member.setWaitsFor(node, waitsFor(predecessors, find, node), clock.now());
  };

  const checkAll = (member: OrderMember): void => {
    check(
      member,
      [...member.ledger.records()].map(({ name }) => name),
    );
    member.changed();
  };

  const followersOf = (key: string): OrderMember[] =>
    [...(followers.get(key) ?? [])].flatMap((follower) => members.get(follower) ?? []);

  const link = (member: OrderMember): void => {
    const key = keyOfMember(member);
    for (const set of followers.values()) set.delete(key);
    for (const { apiGroup, name } of predecessorsOf(member)) {
      const of = keyOf(apiGroup, member.namespace, name);
      followers.set(of, (followers.get(of) ?? new Set()).add(key));
    }
  };

  /** Adds those that it waits for, at any distance: with them it may be in a cycle. */
  const addReached = (key: string, reached: Set<string>): void => {
    const waiting = [key];
    for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
      const { daemonSet, after = [] } = written.get(from) ?? {};
      for (const { apiGroup, name } of after) {
        const next = keyOf(apiGroup, daemonSet?.namespace ?? '', name);
        if (reached.has(next)) continue;
        reached.add(next);
        waiting.push(next);
      }
    }
  };

  /** What its plan says has changed; undefined: nothing, or it is no longer managed. Tells of the others that are now in another cycle, or in none. */
  const rewrite = (daemonSet: OrderedDaemonSet, after: readonly Predecessor[] | undefined): void => {
    const key = keyOfMember(daemonSet);
    const known = written.get(key);
    if (isDeepStrictEqual(known?.after, after)) return;
    const concerned = new Set([key]);
    addReached(key, concerned);
    if (after) written.set(key, { daemonSet, after, cycle: undefined });
    else written.delete(key);
    addReached(key, concerned);
    const entries = [...concerned].flatMap((each) => written.get(each) ?? []);
    const cycles = findCycles(
      entries.map((entry) => entry.daemonSet),
      ({ apiGroup, name }) => written.get(keyOf(apiGroup, daemonSet.namespace, name))?.after ?? [],
    );
    const changed: OrderedDaemonSet[] = [];
    for (const [index, entry] of entries.entries()) {
      const cycle = cycles[index];
      if (keyOfMember(entry.daemonSet) !== key && !isDeepStrictEqual(cycle, entry.cycle)) changed.push(entry.daemonSet);
      entry.cycle = cycle;
    }
    for (const each of changed) for (const listener of listeners) listener(each);
  };

  return {
    join(member) {
      const key = keyOfMember(member);
      members.set(key, member);
      for (const follower of followersOf(key)) checkAll(follower);
      return () => {
        if (members.get(key) !== member) return;
        members.delete(key);
        for (const set of followers.values()) set.delete(key);
        for (const follower of followersOf(key)) checkAll(follower);
        rewrite(member, undefined);
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setAfter(daemonSet, after) {
      rewrite(daemonSet, after.length > 0 ? after : undefined);
      return written.get(keyOfMember(daemonSet))?.cycle;
    },
    planChanged(member) {
      const had = followers.values().some((set) => set.has(keyOfMember(member)));
      link(member);
      if (!had && predecessorsOf(member).length === 0) return;
      checkAll(member);
    },
    nodesAdded(member, nodes) {
      if (predecessorsOf(member).length > 0) check(member, nodes);
    },
    nodeChanged(member, node) {
      for (const follower of followersOf(keyOfMember(member))) {
        check(follower, [node]);
        follower.changed();
      }
    },
    rolloutChanged(member) {
      for (const follower of followersOf(keyOfMember(member))) checkAll(follower);
    },
  };
};
