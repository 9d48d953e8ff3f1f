import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonRolloutLimits } from '../daemon-rollout.ts';
import { planApi, planLimits } from '../plan.ts';
import type { Infer } from '../typed.ts';
import { ageColumn, column, defineCrd, wide } from './definition.ts';
import { type RolloutPlanSpec, rolloutPlanSpecSchema, stageName } from './plan-schema.ts';
import { object, oneOf, text, withRules } from './schema.ts';
import { objectName } from './values.ts';

export interface RolloutPlanObject {
  apiVersion: typeof planApi.apiVersion;
  kind: 'RolloutPlan' | 'ClusterRolloutPlan';
  metadata: ObjectMeta;
  spec: RolloutPlanSpec;
}

const planCrd = (scope: 'Namespaced' | 'Cluster', names: typeof planApi.plan | typeof planApi.clusterPlan) =>
  defineCrd({
    scope,
    names,
    description:
      'How rollouts proceed: in which stages, at which times, and in which order. A DaemonSet names its plan in the annotation ' +
      `edgeset.io/rollout-plan: ${scope === 'Cluster' ? 'cluster/NAME' : 'NAME'}.`,
    columns: [
      // The API server prints the first item of a list alone.
      column('First stage', '.spec.stages[0].name', 'The stage that is updated first.'),
      column('Next', '.spec.stages[1].name', 'The stage after it.'),
      ageColumn('Age of the plan.'),
      wide(column('Window', '.spec.windows[0].from', 'When the first window opens.')),
      wide(column('Time zone', '.spec.windows[0].timeZone', 'The time zone of the first window.')),
      wide(column('After', '.spec.after[0].name', 'The first DaemonSet that is updated before.')),
    ],
    properties: { spec: rolloutPlanSpecSchema },
    required: ['spec'],
  });

/** `rolloutplans.edgeset.io`. */
const rolloutPlanCrd = planCrd('Namespaced', planApi.plan);

/** `clusterrolloutplans.edgeset.io`, for DaemonSets of all namespaces. */
const clusterRolloutPlanCrd = planCrd('Cluster', planApi.clusterPlan);

const approvalSpec = withRules(
  object(
    'The decision. It can not be changed.',
    {
      daemonSet: object(
        'The DaemonSet, in the same namespace.',
        {
          apiGroup: oneOf(
            'apps for a native DaemonSet, apps.kruise.io for an Advanced one.',
            ['apps', 'apps.kruise.io'],
            {
              default: 'apps',
            },
          ),
          name: objectName('Its name.'),
        },
        { optional: ['apiGroup'] },
      ),
      revision: withRules(
        text('The revision that it is for: the value of the label controller-revision-hash.', daemonRolloutLimits.hash),
        {
          rule: "self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",
          message: 'must be the value of the label controller-revision-hash, such as 6d8c9f7b5',
        },
      ),
      stage: stageName('The stage that it is for.'),
      decision: oneOf(
        'Approve: the approval that the stage awaits. Promote: the stage is passed whatever its coverage, soak and checks; an approval ' +
          'that it awaits is still needed.',
        ['Approve', 'Promote'],
        { default: 'Approve' },
      ),
      approvedBy: text(
        'Name of the user who creates the object. An admission policy demands that it is true.',
        daemonRolloutLimits.user,
        { minLength: 1 },
      ),
      comment: text('Why, for people.', planLimits.comment),
    },
    { optional: ['decision', 'comment'] },
  ),
  {
    rule: 'self == oldSelf',
    message: 'a decision can not be changed: delete the RolloutApproval and create another one',
  },
);

export type RolloutApprovalSpec = Infer<typeof approvalSpec>;

export interface RolloutApproval {
  apiVersion: typeof planApi.apiVersion;
  kind: 'RolloutApproval';
  metadata: ObjectMeta;
  spec: RolloutApprovalSpec;
}

/** `rolloutapprovals.edgeset.io`. */
const rolloutApprovalCrd = defineCrd({
  scope: 'Namespaced',
  names: planApi.approval,
  description: 'The decision of a person about one stage of one revision of a DaemonSet.',
  columns: [
    column('DaemonSet', '.spec.daemonSet.name', 'The DaemonSet.'),
    column('Revision', '.spec.revision', 'The revision that it is for.'),
    column('Stage', '.spec.stage', 'The stage that it is for.'),
    column('Decision', '.spec.decision', 'Approve, or Promote.'),
    column('By', '.spec.approvedBy', 'Who made it.'),
    ageColumn('Time since the decision.'),
    wide(column('API group', '.spec.daemonSet.apiGroup', 'API group of the DaemonSet.')),
    wide(column('Comment', '.spec.comment', 'Why.')),
  ],
  properties: { spec: approvalSpec },
  required: ['spec'],
});

/** Every CRD that stages need. */
export const planCrds = [rolloutPlanCrd, clusterRolloutPlanCrd, rolloutApprovalCrd] as const;
