import type { AuditRecord } from './audit-record.ts';
import { availablePod, followTruth, inOrder, isAvailable, type NodeTruth, type Truth } from './truth.ts';

export interface JudgeOptions {
  namespace: string;
  daemonSet: string;
  /** Whose acts are judged. Default: every ServiceAccount named `edgeset-...`. */
  product?: (user: string) => boolean;
  /** What `apps.openyurt.io/max-unavailable` was: a number, or a percentage of the eligible online nodes. Default 10%. */
  budget?: number | `${number}%`;
  /** What happened in the cluster so shortly before an act may be unknown to the one who acts. Default 1000. */
  lagMs?: number;
  /** A node that came back less than this long ago need not be counted as down. Default 10 000. */
  settleMs?: number;
}

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

const time = (at: number): string => new Date(at).toISOString().slice(11, 23);

/**
 * Holds the acts of the product on one native DaemonSet against `spec/invariants.md`, seen from the cluster's side:
 * S1 (own budget), S2 (total budget), S4 (offline nodes), S5 (identity) and S6 (once). Returns the violations, one
 * sentence each; empty when all is well.
 */
export const judge = (records: readonly AuditRecord[], options: JudgeOptions): string[] => {
  const { namespace, daemonSet, product = isProduct, budget = '10%', lagMs = 1000, settleMs = 10_000 } = options;
  const { truth, apply } = followTruth(namespace, daemonSet);
  const violations: string[] = [];
  /** Nodes where our last act has not healed. */
  const inFlight = new Set<string>();
  const acted = new Map<string, number>();

  const heal = (at: number): void => {
    for (const node of inFlight) if (availablePod(truth, node, at)) inFlight.delete(node);
  };

  const judgeDelete = (record: AuditRecord): void => {
    const at = record.receivedAt;
    const uid = (record.response as { metadata?: { uid?: string } }).metadata?.uid ?? '';
    const pod = truth.pods.get(uid);
    const complain = (rule: string, what: string): void => {
      violations.push(`${rule}: at ${time(at)} ${record.user} deleted pod ${record.name} ${what}`);
    };

    const preconditions = (record.request as { preconditions?: { uid?: string } } | undefined)?.preconditions;
    if (preconditions?.uid === undefined) complain('S5', 'without a uid precondition');
    if (pod === undefined) {
      complain('S5', `which DaemonSet ${namespace}/${daemonSet} does not own`);
      return;
    }
    const { node: name, hash } = pod;
    const healthy = isAvailable(truth, pod, at);
    if (healthy && hash === truth.target) complain('S5', `on ${name}, a healthy one of the target revision ${hash}`);

    const node = truth.nodes.get(name);
    if (node === undefined) complain('S4', `on ${name}, a node that does not exist`);
    else if (!node.ready && at - node.since > lagMs) {
      complain('S4', `on ${name}, which had not been ready for ${Math.round(at - node.since)} ms`);
    }

    const limit = limitOf(budget, eligible(truth).filter((one) => one.ready || at - one.since <= lagMs).length);
    const knownOnline = (other: string): boolean => {
      const found = truth.nodes.get(other);
      return found !== undefined && found.ready && at - found.since > lagMs;
    };
    const others = [...inFlight].filter((other) => other !== name && knownOnline(other));
    if (others.length >= limit) {
      complain(
        'S1',
        `on ${name} while ${others.length} others were in flight (${others.join(', ')}) and the budget is ${limit}`,
      );
    }

    const isDown = ({ name: other, ready, since }: NodeTruth): boolean => {
      if (other === name || !ready || availablePod(truth, other, at)) return false;
      if (inFlight.has(other)) return knownOnline(other);
      return at - since > Math.max(settleMs, lagMs) && at - (truth.downSince.get(other) ?? at) > lagMs;
    };
    const down = eligible(truth)
      .filter(isDown)
      .map((one) => one.name);
    if (healthy && down.length >= limit) {
      complain(
        'S2',
        `on ${name}, a healthy one, while ${down.length} nodes were down (${down.join(', ')}) and the budget is ${limit}`,
      );
    }

    if (acted.get(name) === truth.rollout && healthy)
      complain('S6', `on ${name}, the second act there for one rollout`);
    acted.set(name, truth.rollout);
    inFlight.add(name);
  };

  for (const record of inOrder(records)) {
    const isDelete = record.verb === 'delete' && record.group === '' && record.resource === 'pods';
    // At each record: a node that was well for a moment only has healed all the same.
    heal(record.receivedAt);
    if (isDelete && record.namespace === namespace && product(record.user)) judgeDelete(record);
    apply(record);
  }
  return violations;
};

/** Nodes that the DaemonSet's nodeSelector takes; taints and affinity are the caller's business. */
const eligible = (truth: Truth): NodeTruth[] => {
  const selector = Object.entries(truth.daemonSet?.spec?.template.spec?.nodeSelector ?? {});
  return [...truth.nodes.values()].filter(({ labels }) => selector.every(([key, value]) => labels[key] === value));
};

const limitOf = (budget: number | `${number}%`, online: number): number => {
  if (typeof budget === 'number') return budget;
  const percent = Number(budget.slice(0, -1));
  return percent === 0 ? 0 : Math.max(1, Math.ceil((percent * online) / 100));
};

/**
 * How many writes there were by verb and resource (`delete pods`, `patch pods/status`), refused ones included.
 * For "nothing at rest" and "one DELETE per pod".
 */
export const countWrites = (
  records: readonly AuditRecord[],
  filter: { user: (user: string) => boolean; namespace?: string; since?: number },
): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { user, namespace, verb, resource, receivedAt } of records) {
    if (verb === 'get' || verb === 'list' || verb === 'watch') continue;
    if (!filter.user(user) || receivedAt < (filter.since ?? 0)) continue;
    if (filter.namespace !== undefined && namespace !== filter.namespace) continue;
    const key = `${verb} ${resource}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};
