import { planLimits as limits, planWeekdays, queryPlaceholders, REST_STAGE } from '../plan.ts';
import type { Infer } from '../typed.ts';
import {
  atomicList,
  flag,
  keyedList,
  object,
  oneOf,
  type Rule,
  type Schema,
  type SchemaOf,
  text,
  withRules,
} from './schema.ts';
import {
  dateOrTime,
  dnsLabel,
  duration,
  exactlyOne,
  fromBeforeTo,
  hostName,
  intOrPercent,
  labelKey,
  nodeSelector,
  objectName,
  timeOfDay,
} from './values.ts';

/** Whatever marks a node as busy. */
const skipNodes = withRules(
  object(
    'Nodes that are busy: no update begins there while any of this applies, and they block no stage.',
    {
      selector: nodeSelector('Labels of the nodes.'),
      taints: {
        ...atomicList('Keys of taints of the nodes, with any effect.', limits.skipNodes, labelKey('Key of a taint.')),
        'x-kubernetes-list-type': 'set',
      },
      conditions: {
        ...atomicList(
          'Types of conditions of the nodes that are True.',
          limits.skipNodes,
          withRules(text('Type of a Node condition, such as MaintenanceInProgress.', 316, { minLength: 1 }), {
            rule: "self != 'Ready'",
            message: 'Ready nodes are the ones that are updated: name another condition',
          }),
        ),
        'x-kubernetes-list-type': 'set',
      },
    },
    { optional: ['selector', 'taints', 'conditions'] },
  ),
  {
    rule: 'has(self.selector) || (has(self.taints) && size(self.taints) > 0) || (has(self.conditions) && size(self.conditions) > 0)',
    message: 'skips no node: set at least one of selector, taints and conditions',
  },
);

export const stageName = (description: string) =>
  withRules(dnsLabel(description), {
    rule: `self != '${REST_STAGE}'`,
    message: `"${REST_STAGE}" is the last stage of every plan, with the nodes that no other stage takes: choose another name`,
  });

/** An integer of at least `minimum`, which is also its default. */
const least = (description: string, minimum: number): SchemaOf<number> => ({
  type: 'integer',
  format: 'int32',
  description,
  minimum,
  default: minimum,
});

const promote = withRules(
  object(
    'What must hold before the stages after it open.',
    {
      coverage: intOrPercent(
        "How many of the stage's online nodes run the target and are available. A percentage is rounded up.",
        1,
        { default: '100%' },
      ),
      minNodes: least('At least this many nodes run the target, or all of the stage if it has fewer.', 1),
      soak: duration('How long coverage lasts before the stage is passed; it starts again when coverage falls below.', {
        default: '0s',
      }),
      checks: {
        ...atomicList(
          'Names of checks that run during the soak and hold at its end.',
          limits.checks,
          dnsLabel('Name of one of spec.checks.'),
        ),
        'x-kubernetes-list-type': 'set',
      },
      approval: object('Whether a person decides, too.', {
        required: flag('A RolloutApproval for the revision and this stage is awaited.'),
      }),
      timeout: withRules(duration('How long after the stage opened onTimeout takes effect. Default: never.'), {
        rule: "self.matches('[1-9]')",
        message: 'must be longer than 0: omit timeout to wait for as long as it takes',
      }),
      onTimeout: oneOf(
        'hold: the stage stays open, and a condition and an Event say so. promote: it is passed whatever its coverage and its ' +
          'soak, but not against a check or without its approval.',
        ['hold', 'promote'],
        { default: 'hold' },
      ),
    },
    { optional: ['coverage', 'minNodes', 'soak', 'checks', 'approval', 'timeout', 'onTimeout'] },
  ),
  {
    rule: "!has(self.onTimeout) || self.onTimeout != 'promote' || has(self.timeout)",
    message: 'there is no time to promote at: set timeout, or set onTimeout to hold',
    fieldPath: '.onTimeout',
  },
);

export type PlanStagePromotion = Infer<typeof promote>;

const stage = object(
  'A part of the nodes that is updated before the next.',
  {
    name: stageName('Name of the stage.'),
    nodes: object(
      'Which of the nodes that no earlier stage took. Default: all.',
      {
        selector: nodeSelector('Labels of the nodes. Default: all nodes.'),
        count: intOrPercent(
          'How many of the matching nodes, another random sample for each revision. A percentage is rounded up. Default: all.',
          0,
        ),
      },
      { optional: ['selector', 'count'] },
    ),
    maxUnavailable: intOrPercent(
      "How many of the stage's nodes may be down at once, within the budget of the DaemonSet. A percentage is of its online nodes, " +
        'rounded up. Default: the budget of the DaemonSet.',
      0,
    ),
    failureThreshold: intOrPercent(
      'How many failed nodes halt the rollout while this is the last open stage. Default: the threshold of the DaemonSet.',
      1,
    ),
    promote: { ...promote, default: {} },
  },
  { optional: ['nodes', 'maxUnavailable', 'failureThreshold', 'promote'] },
);

export type PlanStage = Infer<typeof stage>;

const names = queryPlaceholders.map((name) => `$\{${name}}`);

const prometheus = withRules(
  object(
    'A query of Prometheus.',
    {
      address: withRules(text('Address of Prometheus. Default: that of the manager.', limits.address), {
        rule: "self.matches('^https?://[^/@?# ]+(/[^@?# ]*)?$')",
        message:
          'must be an address such as https://prometheus.example.org:9090, without credentials and query: set credentials for them',
      }),
      query: withRules(
        text(`The query in PromQL, in which ${names.join(', ')} are replaced.`, limits.query, { minLength: 1 }),
        {
          // A $ that no name in braces follows is a part of PromQL, such as the end of a pattern.
          rule: `self.matches('^([^$]|[$]+[^{$]|[$]+[{](${queryPlaceholders.join('|')})[}])*[$]*$')`,
          message: `has an unknown or unfinished placeholder: use ${names.join(', ')}`,
        },
      ),
      condition: withRules(
        text(
          "A CEL expression over result, the list of the samples' values, such as: result.all(r, r < 0.05).",
          limits.condition,
          { minLength: 1 },
        ),
        {
          rule: "self.matches('(^|[^A-Za-z0-9_.])result([^A-Za-z0-9_]|$)')",
          message: 'must say what has to hold of result, such as: result.all(r, r < 0.05)',
        },
      ),
      interval: duration('Time between evaluations.', { default: '1m', least: '1s' }),
      failureLimit: least('How many evaluations may fail; one more halts the rollout.', 0),
      initialDelay: duration('How long after the begin of the soak the first evaluation is.', { default: '0s' }),
      credentials: object(
        'How the manager authenticates: a Secret in the namespace of the plan, or of the manager for a ClusterRolloutPlan.',
        { secretName: objectName('Name of the Secret, with token, or with username and password.') },
      ),
      tls: withRules(
        object(
          'How the certificate of the server is verified.',
          {
            caSecretName: objectName(
              'Name of a Secret in the same namespace, with ca.crt. Default: public authorities.',
            ),
            serverName: hostName('Name in the certificate. Default: the host of the address.'),
            insecureSkipVerify: flag('The certificate is not verified.'),
          },
          { optional: ['caSecretName', 'serverName', 'insecureSkipVerify'] },
        ),
        {
          rule: '!(has(self.insecureSkipVerify) && self.insecureSkipVerify && (has(self.caSecretName) || has(self.serverName)))',
          message: 'nothing is verified: remove insecureSkipVerify, or caSecretName and serverName',
          fieldPath: '.insecureSkipVerify',
        },
      ),
    },
    { optional: ['address', 'interval', 'failureLimit', 'initialDelay', 'credentials', 'tls'] },
  ),
  {
    rule: "!has(self.tls) || !has(self.address) || self.address.startsWith('https:')",
    message: 'the address has no TLS: begin it with https://, or remove tls',
    fieldPath: '.tls',
  },
);

export type PrometheusCheck = Infer<typeof prometheus>;

const analysis = withRules(
  object(
    "An AnalysisRun of Argo Rollouts, from one of its templates. Argo Rollouts' controller must be installed.",
    {
      templateName: objectName('Name of an AnalysisTemplate in the namespace of the DaemonSet.'),
      clusterTemplateName: objectName('Name of a ClusterAnalysisTemplate.'),
      args: keyedList(
        'Arguments of the template.',
        limits.args,
        ['name'],
        object('One argument.', {
          name: text('Name of the argument.', 253, { minLength: 1 }),
          value: text('Its value.', limits.arg),
        }),
      ),
    },
    { optional: ['templateName', 'clusterTemplateName', 'args'] },
  ),
  exactlyOne('templateName', 'clusterTemplateName'),
);

export type AnalysisCheck = Infer<typeof analysis>;

const check = withRules(
  object(
    'A question whose answer decides whether a stage is passed.',
    { name: dnsLabel('Name of the check.'), prometheus, analysis },
    { optional: ['prometheus', 'analysis'] },
  ),
  exactlyOne('prometheus', 'analysis'),
);

export type PlanCheck = Infer<typeof check>;

const window = object(
  'A time at which updates may begin.',
  {
    days: withRules(
      {
        ...atomicList(
          'Days on which it begins. Default: every day.',
          planWeekdays.length,
          oneOf('A day.', planWeekdays),
        ),
        'x-kubernetes-list-type': 'set',
      },
      { rule: 'size(self) > 0', message: 'would never open: name at least one day, or omit days for every day' },
    ),
    from: timeOfDay('When it opens.'),
    to: timeOfDay('When it closes; at or before from, on the next day.'),
    timeZone: withRules(
      text("Name of a time zone, or node: that of the Node's annotation edgeset.io/time-zone, UTC without it.", 64, {
        default: 'UTC',
      }),
      {
        rule: "self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$')",
        message: 'must be the name of a time zone such as Europe/Berlin, or node',
      },
    ),
  },
  { optional: ['days', 'timeZone'] },
);

export type PlanWindow = Infer<typeof window>;

const freeze = withRules(
  object(
    'A time at which no update begins, in the windows, too.',
    {
      from: dateOrTime('When it begins. A date is at midnight, UTC.'),
      to: dateOrTime('When it ends. A date is at midnight, UTC: the first day on which updates begin again.'),
      reason: text('Why, for people.', 256),
    },
    { optional: ['reason'] },
  ),
  fromBeforeTo,
);

const order = object(
  'A DaemonSet in the same namespace that is updated first.',
  {
    apiGroup: oneOf('apps for a native DaemonSet, apps.kruise.io for an Advanced one.', ['apps', 'apps.kruise.io'], {
      default: 'apps',
    }),
    kind: oneOf('Its kind.', ['DaemonSet'], { default: 'DaemonSet' }),
    name: objectName('Its name.'),
    scope: oneOf(
      'Node: its pod on the same node is at its target and available first. Rollout: its rollout is complete first.',
      ['Node', 'Rollout'],
      { default: 'Node' },
    ),
  },
  { optional: ['apiGroup', 'kind', 'scope'] },
);

const group = object('A budget for each group of nodes.', {
  topologyKey: labelKey(
    'Nodes with the same value of this label are a group; nodes without it are one group together.',
  ),
  value: intOrPercent(
    'How many nodes of a group may be down at once. A percentage is of its online nodes, rounded up.',
    0,
  ),
});

const parts = {
  stages: keyedList(
    'The stages, in order. Each takes its nodes from those that the ones before it left.',
    limits.stages,
    ['name'],
    stage,
  ),
  checks: keyedList('Checks that stages name.', limits.checks, ['name'], check),
  windows: atomicList('When updates may begin: in one of the windows. Default: always.', limits.windows, window),
  windowsOnRollback: flag(
    'Windows and freezes hold a rollback to the revision that was last complete, too. Default: they do not.',
  ),
  freezes: atomicList('When no update begins.', limits.freezes, freeze),
  maxUnavailablePer: keyedList(
    'How many nodes of one zone, site or other group may be down at once.',
    limits.groups,
    ['topologyKey'],
    group,
  ),
  after: keyedList('DaemonSets that are updated first.', limits.after, ['apiGroup', 'name'], order),
  skipNodes,
} satisfies Record<string, Schema>;

const rules: Rule[] = [
  {
    rule: ['stages', 'windows', 'freezes', 'maxUnavailablePer', 'after']
      .map((field) => `(has(self.${field}) && size(self.${field}) > 0)`)
      .concat('has(self.skipNodes)')
      .join(' || '),
    message:
      'the plan says nothing: set at least one of stages, windows, freezes, maxUnavailablePer, after and skipNodes',
  },
  {
    rule:
      '!has(self.stages) || self.stages.all(s, !has(s.promote) || !has(s.promote.checks) || ' +
      's.promote.checks.all(c, has(self.checks) && self.checks.exists(k, k.name == c)))',
    message: 'a stage names a check that spec.checks does not have: add it there, or remove it from promote.checks',
    fieldPath: '.stages',
  },
];

export const rolloutPlanSpecSchema = withRules(
  object('How rollouts proceed. Everything in it holds at once.', parts, {
    optional: Object.keys(parts) as (keyof typeof parts)[],
  }),
  ...rules,
);

/** `spec` of a RolloutPlan and a ClusterRolloutPlan. */
export type RolloutPlanSpec = Infer<typeof rolloutPlanSpecSchema>;
