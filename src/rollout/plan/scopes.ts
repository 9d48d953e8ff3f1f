import type { NodeFacts } from '../facts/node.ts';
import { budgetShare, type IntOrPercent } from '../policy/int-or-percent.ts';
import type { Plan } from '../policy/plan-terms.ts';

/** Nodes that have a limit of their own within the DaemonSet's budget: a stage, or the nodes of one group. */
export interface Scope {
  /** For people: `stage canary`, or `site=s12`. */
  readonly name: string;
  readonly limit: IntOrPercent;
  online: number;
  inFlight: number;
  active: number;
  /** Down or in flight, with a pod that is replaced once the stage of the node opens. */
  stranded: number;
  occupied: number;
}

/** The scopes that a node is in. Nodes in the same ones share the object. */
export interface Scopes {
  /** Different for different scopes, and for those of an older plan, whose counts and limits no longer hold. */
  readonly key: string;
  readonly all: readonly Scope[];
}

export const noScopes: Scopes = { key: '', all: [] };

/** How many nodes of the scope may be down, or surge, at once. */
export const scopeLimit = ({ limit, online }: Pick<Scope, 'limit' | 'online'>): number => budgetShare(limit, online);

/** As many nodes of some scope are down, or being updated, as may be. */
export const isFull = ({ all }: Scopes): boolean => all.some((scope) => scope.occupied >= scopeLimit(scope));

/** Nodes that an earlier revision broke hold every slot of some scope, and their stages are closed again. */
export const isStuck = ({ all }: Scopes): boolean =>
  all.some((scope) => scope.stranded > 0 && scope.active === 0 && scope.occupied >= scopeLimit(scope));

/** Value of `NodeFacts.groups`: the node's value of each topology key of the plan. */
export const groupsOf = ({ groups }: Pick<Plan, 'groups'>, labels: Readonly<Record<string, string>>): string =>
  groups.map(({ topologyKey }) => labels[topologyKey] ?? '').join('\n');

/** Finds the scopes of nodes. */
export const createScopeFinder = () => {
  let plan: Plan | undefined;
  let plans = 0;
  const scopes = new Map<string, Scope>();
  const combined = new Map<string, Scopes>();

  const scope = (key: string, name: string, limit: IntOrPercent): Scope => {
    const known = scopes.get(key);
    if (known) return known;
    const created = { name, limit, online: 0, inFlight: 0, active: 0, stranded: 0, occupied: 0 };
    scopes.set(key, created);
    return created;
  };

  return {
    /** Starts again: the caller finds the scopes of every node again. */
    setPlan(next: Plan | undefined): void {
      plan = next;
      plans += 1;
      scopes.clear();
      combined.clear();
    },
    of(facts: NodeFacts | undefined, stage: number): Scopes {
      if (!plan || !facts) return noScopes;
      const limited = plan.stages[stage];
      const stageKey = limited?.maxUnavailable ? String(stage) : '';
      if (stageKey === '' && plan.groups.length === 0) return noScopes;
      const key = `${plans}\n${stageKey}\n${facts.groups ?? ''}`;
      const known = combined.get(key);
      if (known) return known;
      const values = (facts.groups ?? '').split('\n');
      const all = plan.groups.map(({ topologyKey, value: limit }, index) => {
        const value = values[index] ?? '';
        // Nodes without the label are one group together.
        const name = value === '' ? `without ${topologyKey}` : `${topologyKey}=${value}`;
        return scope(`${index}\n${value}`, name, limit);
      });
      if (limited?.maxUnavailable) all.push(scope(stageKey, `stage ${limited.name}`, limited.maxUnavailable));
      const found = { key, all };
      combined.set(key, found);
      return found;
    },
  };
};
