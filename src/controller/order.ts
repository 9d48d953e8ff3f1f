import { type Ledger, type Preceding, type Predecessor, waitsFor } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';

/** A DaemonSet that takes part in the order. */
export interface OrderMember {
  apiGroup: string;
  namespace: string;
  name: string;
  ledger: Pick<Ledger, 'policy' | 'get' | 'records' | 'setWaitsFor'>;
  /** The ledger has the target of the DaemonSet's present template. */
  isCurrent: () => boolean;
  isComplete: () => boolean;
  /** What its nodes wait for has changed. */
  changed: () => void;
}

const keyOf = (apiGroup: string, namespace: string, name: string): string => `${apiGroup}/${namespace}/${name}`;

/**
 * The order between the updates of DaemonSets, of all kinds: which of them are managed, and what their nodes wait for. One
 * for all controllers of a process.
 */
export const createOrder = (clock: Pick<Clock, 'now'>) => {
  const members = new Map<string, OrderMember>();
  /** By the key of a DaemonSet: the keys of those whose plans name it. */
  const followers = new Map<string, Set<string>>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };

  const keyOfMember = ({ apiGroup, namespace, name }: OrderMember): string => keyOf(apiGroup, namespace, name);
  const predecessorsOf = ({ ledger }: OrderMember): readonly Predecessor[] => ledger.policy.plan?.after ?? [];

  const toPreceding = ({ ledger, isCurrent, isComplete }: OrderMember): Preceding => ({
    statusOf: (node) => ledger.get(node)?.status,
    isCurrent,
    isComplete,
  });

  const check = (member: OrderMember, nodes: Iterable<string>): void => {
    const predecessors = predecessorsOf(member);
    const find = ({ apiGroup, name }: Predecessor): Preceding | undefined => {
      const found = members.get(keyOf(apiGroup, member.namespace, name));
      return found && toPreceding(found);
    };
    for (const node of nodes) member.ledger.setWaitsFor(node, waitsFor(predecessors, find, node), clock.now());
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

  return {
    /** The DaemonSet is managed from now on, until the returned function is called. */
    join(member: OrderMember): () => void {
      const key = keyOfMember(member);
      members.set(key, member);
      for (const follower of followersOf(key)) checkAll(follower);
      return () => {
        if (members.get(key) !== member) return;
        members.delete(key);
        for (const set of followers.values()) set.delete(key);
        for (const follower of followersOf(key)) checkAll(follower);
        tell();
      };
    },
    /** `listener` is called when the plan of some DaemonSet may have changed. */
    onChange: (listener: () => void): void => void listeners.add(listener),
    /** Its plan may have changed. */
    planChanged(member: OrderMember): void {
      const had = followers.values().some((set) => set.has(keyOfMember(member)));
      link(member);
      if (!had && predecessorsOf(member).length === 0) return;
      checkAll(member);
      tell();
    },
    /** Nodes of its own were added or have changed. */
    nodesAdded(member: OrderMember, nodes: Iterable<string>): void {
      if (predecessorsOf(member).length > 0) check(member, nodes);
    },
    /** The node's status has changed in a way that matters to those that wait for it. */
    nodeChanged(member: OrderMember, node: string): void {
      for (const follower of followersOf(keyOfMember(member))) {
        check(follower, [node]);
        follower.changed();
      }
    },
    /** Its template has changed, the target of that is known, or its rollout became complete or no longer is. */
    rolloutChanged(member: OrderMember): void {
      for (const follower of followersOf(keyOfMember(member))) checkAll(follower);
    },
    /** The names of DaemonSets that wait for each other, beginning and ending with this one; undefined: none does. */
    circleOf(apiGroup: string, namespace: string, name: string, after: readonly Predecessor[]): string[] | undefined {
      const start = keyOf(apiGroup, namespace, name);
      const seen = new Set<string>();
      const search = (predecessors: readonly Predecessor[], path: readonly string[]): string[] | undefined => {
        for (const each of predecessors) {
          const key = keyOf(each.apiGroup, namespace, each.name);
          if (key === start) return [...path, each.name];
          if (seen.has(key)) continue;
          seen.add(key);
          const member = members.get(key);
          const found = member && search(predecessorsOf(member), [...path, each.name]);
          if (found) return found;
        }
        return undefined;
      };
      return search(after, [name]);
    },
  };
};
export type Order = ReturnType<typeof createOrder>;
