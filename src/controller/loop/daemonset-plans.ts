import type { AddressRules } from '../../checks/index.ts';
import type { KubeClient } from '../../kube/index.ts';
import {
  type Approval,
  formatPlanName,
  type OutsideHold,
  predecessorsIn,
  withoutCycle,
  withPlan,
} from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { annotation } from '../../words/index.ts';
import type { InternalError } from '../internal-error.ts';
import type { DaemonSetView } from '../kind.ts';
import { createPlans } from '../watches/plans.ts';
import type { Order } from './order.ts';

export interface DaemonSetPlansOptions<V extends DaemonSetView> {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  apiGroup: string;
  order: Order;
  /** Undefined: plans are judged by what they say alone. */
  checks: { rules: AddressRules; ownNamespace: string } | undefined;
  /** The managed DaemonSets, without their plans. */
  views: () => Iterable<V>;
  /** The plan of this DaemonSet has changed, or is judged in another way. */
  changed: (view: V) => void;
  /** An approval was added or removed. */
  approvalsChanged: (view: V) => void;
  /** What the caches lack has changed. */
  failuresChanged: () => void;
}

/** The hold of a DaemonSet whose plan the manager cannot read. */
export const unreadablePlan = ({ policy }: Pick<DaemonSetView, 'policy'>): OutsideHold => {
  const { rolloutPlan } = policy.policy;
  return {
    kind: 'invalid',
    what: 'The rollout plans of the cluster cannot be read',
    errors: [
      {
        field: annotation.rolloutPlan,
        value: rolloutPlan ? formatPlanName(rolloutPlan) : '',
        problem: 'names a plan that the manager cannot read',
        remedy:
          'install the CRDs with `npx edgeset crds | kubectl apply -f -`, and let the manager list rolloutplans, clusterrolloutplans and rolloutapprovals',
      },
    ],
  };
};

/** The plans of the managed DaemonSets of one kind. */
export const createDaemonSetPlans = <V extends DaemonSetView>(options: DaemonSetPlansOptions<V>) => {
  const { client, env, namespaces, apiGroup, order, checks, views, changed, approvalsChanged, failuresChanged } =
    options;
  const planned = (): V[] => [...views()].filter(({ policy }) => policy.policy.rolloutPlan);
  const plans = createPlans({
    client,
    env,
    namespaces,
    failuresChanged,
    ...(checks && {
      manager: {
        ...checks,
        inUse: () =>
          planned().flatMap(({ namespace, policy: { policy } }) =>
            policy.rolloutPlan ? [[namespace, policy.rolloutPlan] as const] : [],
          ),
      },
    }),
    plansChanged() {
      for (const view of planned()) changed(view);
    },
    approvalsChanged() {
      for (const view of planned()) approvalsChanged(view);
    },
  });
  const endOrder = order.onChange(({ namespace, name, ...other }) => {
    if (other.apiGroup !== apiGroup) return;
    for (const view of planned()) if (view.namespace === namespace && view.name === name) changed(view);
  });

  return {
    /** The DaemonSet with the plan that it names. */
    apply(view: V): V {
      const { namespace, name, policy } = view;
      const { rolloutPlan } = policy.policy;
      const found = rolloutPlan && plans.find(namespace, rolloutPlan);
      const cycle = order.setAfter({ apiGroup, namespace, name }, found ? predecessorsIn(found.spec) : []);
      if (!rolloutPlan) return view;
      plans.need();
      return {
        ...view,
        policy: withoutCycle(
          withPlan(policy, () => found),
          cycle,
        ),
      };
    },
    /** Whether what it names is known and judged; stale: a watch has received nothing for too long. */
    stateOf({ namespace, policy }: V): 'known' | 'missing' | 'stale' {
      const { rolloutPlan } = policy.policy;
      if (!rolloutPlan) return 'known';
      if (!plans.synced() || !plans.isJudged(namespace, rolloutPlan)) return 'missing';
      return plans.isCurrent() ? 'known' : 'stale';
    },
    /** What the caches lack of its plan, or may lack of its approvals; undefined: nothing. */
    failure({ namespace, policy }: V): InternalError | undefined {
      const { rolloutPlan } = policy.policy;
      return rolloutPlan && plans.failure(namespace, rolloutPlan);
    },
    approvalsOf: ({ namespace, name }: V): readonly Approval[] => plans.approvalsOf(apiGroup, namespace, name),
    /** Keeps them until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      await plans.run(signal);
      endOrder();
    },
  };
};
