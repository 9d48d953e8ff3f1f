import { limitOf } from '../cluster/workload.ts';
import type { Operation, Plan, PlannedStep } from './plan.ts';

/** How long a DaemonSet that is recreated does not exist. */
const AWAY_MS = 500;
/** The same for one that is handed to a native DaemonSet and back. */
const HANDED_OVER_MS = 10_000;

interface NodeState {
  present: boolean;
  offline: boolean;
  role: string;
  taint: string | undefined;
}

/** Tracks the state of the user's controls and of the nodes, as far as the plan alone determines it. */
const createFollower = ({ kind, limit }: Pick<Plan, 'kind' | 'limit'>) => {
  const nodes = new Map<string, NodeState>();
  const stateOf = (name: string): NodeState => {
    const state = nodes.get(name) ?? { present: true, offline: false, role: 'edge', taint: undefined };
    nodes.set(name, state);
    return state;
  };
  const fresh = { paused: 'false', partition: '0' };
  let user: Record<string, string> = { ...fresh, image: 'app:v0', limit };
  let backAt = 0;
  const set = (what: string, value: string, at: number): boolean => {
    if (at < backAt || user[what] === value) return false;
    user = { ...user, [what]: value };
    return true;
  };
  const toNode = (name: string, change: Partial<NodeState>): boolean => {
    const state = stateOf(name);
    const isNew = Object.entries(change).some(([key, value]) => state[key as keyof NodeState] !== value);
    if (!state.present && change.present === undefined) return false;
    Object.assign(state, change);
    return isNew;
  };

  /** Applies an operation. Returns whether it changes anything. */
  return (operation: Operation, at: number): boolean => {
    // Only operations on the first DaemonSet are faults.
    if ('set' in operation && operation.set !== undefined) return true;
    // All other operations always change something.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (operation.do) {
      case 'release':
        return set('image', operation.image, at);
      case 'budget':
        return set('limit', limitOf(kind, operation.limit), at);
      case 'pause':
        return set('paused', String(operation.paused), at);
      case 'partition':
        return set('partition', String(operation.nodes), at);
      case 'recreate-set':
        if (at < backAt) return false;
        backAt = at + AWAY_MS;
        user = { ...user, ...fresh };
        return true;
      case 'hand-over':
        if (at < backAt) return false;
        backAt = at + HANDED_OVER_MS;
        user = { ...user, ...fresh };
        return true;
      case 'offline':
        return toNode(operation.node, { offline: true });
      case 'online':
        return toNode(operation.node, { offline: false });
      case 'delete-node':
        return toNode(operation.node, { present: false, offline: false, role: 'edge', taint: undefined });
      case 'create-node':
        return toNode(operation.node, { present: true });
      case 'recreate-node':
        Object.assign(stateOf(operation.node), { present: true, offline: false, role: 'edge', taint: undefined });
        return true;
      case 'label':
        return toNode(operation.node, { role: operation.role });
      case 'taint':
        return toNode(operation.node, { taint: operation.effect });
      case 'behave':
        return stateOf(operation.node).present;
      default:
        return true;
    }
  };
};

/** Removes faults that would change nothing, because another one has done the same already. */
export const withoutNoOps = (plan: Plan): Plan => {
  const follow = createFollower(plan);
  const isEffective = ({ at, operation, fault }: PlannedStep): boolean => follow(operation, at) || fault === undefined;
  return { ...plan, steps: plan.steps.filter(isEffective) };
};
