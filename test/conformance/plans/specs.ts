/** Specs of rollout plans, each with the verdict that it must get, as a RolloutPlan and as a ClusterRolloutPlan. */

import type { Verdict } from '../kit/index.ts';

export interface PlanCase extends Verdict {
  name: string;
  /** Not of the type: most of them are wrong. */
  spec: Record<string, unknown>;
}

type Refused = NonNullable<Verdict['refused']>;

const stages = (...list: object[]): PlanCase['spec'] => ({ stages: list });
const stage = (rest: object): PlanCase['spec'] => stages({ name: 'canary', ...rest });
const promote = (rest: object): PlanCase['spec'] => stage({ promote: rest });
const query = { query: 'up', condition: 'result.all(r, r == 1)' };
const checks = (...list: object[]): PlanCase['spec'] => ({ ...stage({}), checks: list });
const prometheus = (rest: object): PlanCase['spec'] => checks({ name: 'errors', prometheus: { ...query, ...rest } });
const analysis = (rest: object): PlanCase['spec'] => checks({ name: 'errors', analysis: rest });
const window = (rest: object): PlanCase['spec'] => ({ windows: [{ from: '22:00', to: '05:00', ...rest }] });
const freeze = (from: string, to: string): PlanCase['spec'] => ({ freezes: [{ from, to }] });
const group = (topologyKey: string, value: unknown = 1): PlanCase['spec'] => ({
  maxUnavailablePer: [{ topologyKey, value }],
});
const after = (rest: object): PlanCase['spec'] => ({ after: [{ name: 'driver', ...rest }] });
const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

const named = ['namespace', 'daemonSet', 'revision', 'previousRevision', 'stage'];

const STAGE = 'spec.stages[0]';
const PROMOTE = `${STAGE}.promote`;
const PROMETHEUS = 'spec.checks[0].prometheus';
const ANALYSIS = 'spec.checks[0].analysis';

const good: PlanCase[] = [
  {
    name: 'one stage with a name, and fills in how it is promoted',
    spec: stage({}),
    stored: { stages: [{ name: 'canary', promote: { coverage: '100%', minNodes: 1, soak: '0s', onTimeout: 'hold' } }] },
  },
  {
    name: 'three rings with everything',
    spec: {
      stages: [
        { name: 'lab', nodes: { selector: { matchLabels: { 'example.org/ring': 'lab' } } } },
        {
          name: 'canary',
          nodes: { count: '5%' },
          maxUnavailable: 2,
          failureThreshold: '10%',
          promote: {
            coverage: '95%',
            minNodes: 3,
            soak: '24h',
            checks: ['errors', 'latency'],
            approval: { required: true },
            timeout: '72h',
            onTimeout: 'hold',
          },
        },
        { name: 'shops', nodes: { selector: { matchExpressions: [{ key: 'van', operator: 'DoesNotExist' }] } } },
      ],
      checks: [
        { name: 'errors', prometheus: query },
        { name: 'latency', analysis: { templateName: 'latency', args: [{ name: 'limit', value: '100ms' }] } },
      ],
      windows: [{ days: ['Mon', 'Tue'], from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' }],
      windowsOnRollback: true,
      freezes: [{ from: '2026-12-20', to: '2027-01-02', reason: 'Christmas' }],
      maxUnavailablePer: [{ topologyKey: 'topology.kubernetes.io/zone', value: '10%' }],
      after: [{ name: 'driver' }],
    },
  },
  { name: 'windows alone', spec: window({}), stored: { windows: [{ from: '22:00', to: '05:00', timeZone: 'UTC' }] } },
  { name: 'a window in the zone of each node', spec: window({ timeZone: 'node' }) },
  { name: 'a window in a zone with a sign', spec: window({ timeZone: 'Etc/GMT+5' }) },
  { name: 'a freeze from a date to a time', spec: freeze('2026-12-20', '2026-12-20T00:00:01Z') },
  { name: 'a freeze with times of other zones', spec: freeze('2026-12-20T23:30:00+02:00', '2026-12-20T22:00:00Z') },
  { name: 'groups alone', spec: group('example.org/site') },
  { name: 'a group by a label without a prefix', spec: group('site', 0) },
  {
    name: 'order alone, and fills in what it means',
    spec: after({}),
    stored: { after: [{ name: 'driver', apiGroup: 'apps', kind: 'DaemonSet', scope: 'Node' }] },
  },
  {
    name: 'order between both kinds',
    spec: { after: [{ name: 'a' }, { name: 'a', apiGroup: 'apps.kruise.io', scope: 'Rollout' }] },
  },
  { name: 'a count of no node', spec: stage({ nodes: { count: 0 } }) },
  { name: 'durations as in Go', spec: promote({ soak: '1h30m', timeout: '8760h' }) },
  { name: 'a duration with a fraction', spec: promote({ soak: '1.5h' }) },
  { name: 'a timeout that promotes', spec: promote({ timeout: '1h', onTimeout: 'promote' }) },
  {
    name: 'a query, and fills in when it is asked',
    spec: prometheus({}),
    stored: {
      checks: [{ name: 'errors', prometheus: { ...query, interval: '1m', failureLimit: 0, initialDelay: '0s' } }],
    },
  },
  {
    name: 'a query with every placeholder',
    spec: prometheus({ query: named.map((each) => `e{a="$\{${each}}"}`).join(' / ') }),
  },
  { name: 'a query with a pattern that ends in $', spec: prometheus({ query: 'up{job=~"^web.*$"}' }) },
  {
    name: 'an address with TLS, and credentials',
    spec: prometheus({
      address: 'https://prometheus.example.org:9090/base',
      credentials: { secretName: 'prometheus' },
      tls: { caSecretName: 'prometheus-ca', serverName: 'prometheus' },
    }),
  },
  { name: 'a template of the cluster', spec: analysis({ clusterTemplateName: 'errors' }) },
  { name: 'twenty stages', spec: { stages: many(20, (index) => ({ name: `s${index}` })) } },
];

const bad: (readonly [name: string, spec: PlanCase['spec'], ...refused: Refused])[] = [
  [
    'a plan of nothing',
    {},
    'spec',
    'set at least one of stages, windows, freezes, maxUnavailablePer, after and skipNodes',
  ],
  ['a plan of empty lists', { stages: [], windows: [] }, 'spec', 'the plan says nothing'],
  ['checks alone', { checks: [{ name: 'errors', prometheus: query }] }, 'spec', 'the plan says nothing'],

  ['a stage without a name', stages({}), `${STAGE}.name`, 'Required value'],
  ['two stages of one name', stages({ name: 'a' }, { name: 'a' }), 'spec.stages[1]', 'Duplicate value'],
  ['the stage rest', stages({ name: 'rest' }), `${STAGE}.name`, 'choose another name'],
  ['a name in capitals', stages({ name: 'Canary' }), `${STAGE}.name`, 'lower-case letters, digits and hyphens'],
  ['a name with a dot', stages({ name: 'ring.1' }), `${STAGE}.name`, 'such as canary-1'],
  ['an empty name', stages({ name: '' }), `${STAGE}.name`, 'such as canary-1'],
  ['a name of 64 characters', stages({ name: 'a'.repeat(64) }), `${STAGE}.name`, 'Too long'],
  ['21 stages', { stages: many(21, (index) => ({ name: `s${index}` })) }, 'spec.stages', 'must have at most 20 items'],

  ['a negative count', stage({ nodes: { count: -1 } }), `${STAGE}.nodes.count`, 'an integer of at least 0'],
  ['a count above 100%', stage({ nodes: { count: '101%' } }), `${STAGE}.nodes.count`, 'from 0% to 100%'],
  ['a count as a text', stage({ nodes: { count: '5' } }), `${STAGE}.nodes.count`, 'such as 3 or "10%"'],
  ['a count that is no number', stage({ nodes: { count: true } }), `${STAGE}.nodes.count`, 'integer,string'],
  [
    'a selector with a key that no label has',
    stage({ nodes: { selector: { matchLabels: { 'a b': 'c' } } } }),
    `${STAGE}.nodes.selector.matchLabels`,
    'keys of node labels',
  ],
  [
    'an expression with a key that no label has',
    stage({ nodes: { selector: { matchExpressions: [{ key: '/x', operator: 'Exists' }] } } }),
    `${STAGE}.nodes.selector.matchExpressions`,
    'keys of node labels',
  ],
  [
    'In without values',
    stage({ nodes: { selector: { matchExpressions: [{ key: 'x', operator: 'In' }] } } }),
    `${STAGE}.nodes.selector.matchExpressions[0].values`,
    'need at least one value',
  ],
  [
    'an unknown operator',
    stage({ nodes: { selector: { matchExpressions: [{ key: 'x', operator: 'Gt' }] } } }),
    `${STAGE}.nodes.selector.matchExpressions[0].operator`,
    'Unsupported value',
  ],
  ['a maxUnavailable with a fraction', stage({ maxUnavailable: '1.5%' }), `${STAGE}.maxUnavailable`, 'from 0% to 100%'],
  ['a failureThreshold of 0', stage({ failureThreshold: 0 }), `${STAGE}.failureThreshold`, 'integer of at least 1'],

  ['a coverage of 0', promote({ coverage: 0 }), `${PROMOTE}.coverage`, 'integer of at least 1'],
  ['a coverage of 0%', promote({ coverage: '0%' }), `${PROMOTE}.coverage`, 'from 1% to 100%'],
  ['a minNodes of 0', promote({ minNodes: 0 }), `${PROMOTE}.minNodes`, 'greater than or equal to 1'],
  ['a soak without a unit', promote({ soak: '90' }), `${PROMOTE}.soak`, 'such as 90s, 1h30m or 24h'],
  ['a soak in days', promote({ soak: '2d' }), `${PROMOTE}.soak`, 'such as 90s, 1h30m or 24h'],
  ['a negative soak', promote({ soak: '-1h' }), `${PROMOTE}.soak`, 'such as 90s, 1h30m or 24h'],
  ['a soak of more than a year', promote({ soak: '8761h' }), `${PROMOTE}.soak`, 'at most 8760h'],
  ['a timeout of 0', promote({ timeout: '0s' }), `${PROMOTE}.timeout`, 'omit timeout'],
  ['a timeout without a unit', promote({ timeout: '5' }), `${PROMOTE}.timeout`, 'such as 90s, 1h30m or 24h'],
  ['a check with a name in capitals', promote({ checks: ['A'] }), `${PROMOTE}.checks[0]`, 'such as canary-1'],
  ['promotion without a timeout', promote({ onTimeout: 'promote' }), `${PROMOTE}.onTimeout`, 'set timeout'],
  ['an unknown onTimeout', promote({ onTimeout: 'skip' }), `${PROMOTE}.onTimeout`, 'Unsupported value'],
  ['an approval that says nothing', promote({ approval: {} }), `${PROMOTE}.approval.required`, 'Required value'],
  [
    'a check that there is not',
    promote({ checks: ['errors'] }),
    'spec.stages',
    'a check that spec.checks does not have',
  ],
  [
    'a check of another name',
    { ...promote({ checks: ['error'] }), checks: [{ name: 'errors', prometheus: query }] },
    'spec.stages',
    'add it there, or remove it from promote.checks',
  ],
  ['a check twice', promote({ checks: ['a', 'a'] }), `${PROMOTE}.checks[1]`, 'Duplicate value'],

  ['a check named in capitals', checks({ name: 'A', prometheus: query }), 'spec.checks[0].name', 'such as canary-1'],
  ['a check of nothing', checks({ name: 'a' }), 'spec.checks[0]', 'set either prometheus or analysis'],
  [
    'a check of both',
    checks({ name: 'a', prometheus: query, analysis: { templateName: 'a' } }),
    'spec.checks[0]',
    'set either prometheus or analysis',
  ],
  ['an analysis without a template', analysis({}), ANALYSIS, 'templateName or clusterTemplateName'],
  [
    'an analysis of two templates',
    analysis({ templateName: 'a', clusterTemplateName: 'b' }),
    ANALYSIS,
    'set either templateName or clusterTemplateName',
  ],
  [
    'an argument twice',
    analysis({ templateName: 'a', args: many(2, () => ({ name: 'a', value: 'b' })) }),
    'spec.checks[0].analysis.args[1]',
    'Duplicate value',
  ],
  ['a template in capitals', analysis({ templateName: 'A' }), `${ANALYSIS}.templateName`, 'the name of an object'],
  [
    'a cluster template in capitals',
    analysis({ clusterTemplateName: 'A' }),
    `${ANALYSIS}.clusterTemplateName`,
    'the name of',
  ],
  ['a query that is not there', prometheus({ query: undefined }), `${PROMETHEUS}.query`, 'Required value'],
  ['an empty query', prometheus({ query: '' }), `${PROMETHEUS}.query`, 'at least 1 char'],
  ['a query of 4097 characters', prometheus({ query: 'x'.repeat(4097) }), `${PROMETHEUS}.query`, 'Too long'],
  ['an unknown placeholder', prometheus({ query: 'up{a="${node}"}' }), `${PROMETHEUS}.query`, 'use ${namespace}, ${d'],
  [
    'an unfinished placeholder',
    prometheus({ query: 'up{a="${stage"}' }),
    `${PROMETHEUS}.query`,
    'unfinished placeholder',
  ],
  [
    'a placeholder after a $',
    prometheus({ query: 'up{a="$${node}"}' }),
    `${PROMETHEUS}.query`,
    'unknown or unfinished',
  ],
  ['a condition that always holds', prometheus({ condition: '1 == 1' }), `${PROMETHEUS}.condition`, 'hold of result'],
  ['a condition on a field result', prometheus({ condition: 'a.result' }), `${PROMETHEUS}.condition`, 'hold of result'],
  ['an interval of 0', prometheus({ interval: '0s' }), `${PROMETHEUS}.interval`, 'at least 1s'],
  [
    'a negative failureLimit',
    prometheus({ failureLimit: -1 }),
    `${PROMETHEUS}.failureLimit`,
    'greater than or equal to 0',
  ],
  [
    'an address without a scheme',
    prometheus({ address: 'prometheus:9090' }),
    `${PROMETHEUS}.address`,
    'such as https://',
  ],
  ['credentials in the address', prometheus({ address: 'https://a:b@c' }), `${PROMETHEUS}.address`, 'set credentials'],
  ['a delay without a unit', prometheus({ initialDelay: '5' }), `${PROMETHEUS}.initialDelay`, 'such as 90s'],
  [
    'a Secret in capitals',
    prometheus({ credentials: { secretName: 'A' } }),
    `${PROMETHEUS}.credentials.secretName`,
    'the name of',
  ],
  [
    'a CA in capitals',
    prometheus({ tls: { caSecretName: 'A' } }),
    `${PROMETHEUS}.tls.caSecretName`,
    'the name of an object',
  ],
  [
    'a server with a space',
    prometheus({ tls: { serverName: 'a b' } }),
    `${PROMETHEUS}.tls.serverName`,
    'the name of a host',
  ],
  [
    'credentials of no Secret',
    prometheus({ credentials: {} }),
    `${PROMETHEUS}.credentials.secretName`,
    'Required value',
  ],
  ['TLS for plain HTTP', prometheus({ address: 'http://a', tls: {} }), `${PROMETHEUS}.tls`, 'begin it with https://'],
  [
    'a CA that nobody asks',
    prometheus({ tls: { caSecretName: 'ca', insecureSkipVerify: true } }),
    `${PROMETHEUS}.tls.insecureSkipVerify`,
    'nothing is verified',
  ],

  ['a window of no day', window({ days: [] }), 'spec.windows[0].days', 'name at least one day, or omit days'],
  ['a day in full', window({ days: ['Monday'] }), 'spec.windows[0].days[0]', 'Unsupported value'],
  ['a day twice', window({ days: ['Mon', 'Mon'] }), 'spec.windows[0].days[1]', 'Duplicate value'],
  ['a time without minutes', window({ from: '22' }), 'spec.windows[0].from', 'from 00:00 to 23:59'],
  ['a time after midnight', window({ to: '24:00' }), 'spec.windows[0].to', 'from 00:00 to 23:59'],
  ['a window without an end', window({ to: undefined }), 'spec.windows[0].to', 'Required value'],
  [
    'a time zone with a space',
    window({ timeZone: 'Europe/ Berlin' }),
    'spec.windows[0].timeZone',
    'such as Europe/Berlin',
  ],
  ['a freeze without an end', { freezes: [{ from: '2026-12-20' }] }, 'spec.freezes[0].to', 'Required value'],
  ['a freeze that ends first', freeze('2026-12-20', '2026-12-19'), 'spec.freezes[0].to', 'set to after from'],
  ['a freeze of no time', freeze('2026-12-20', '2026-12-20'), 'spec.freezes[0].to', 'set to after from'],
  [
    'a freeze that ends as it begins, in another zone',
    freeze('2026-12-20T17:00:00Z', '2026-12-20T18:00:00+01:00'),
    'spec.freezes[0].to',
    'ends before it begins',
  ],
  ['a freeze on the 30th of February', freeze('2026-02-30', '2026-03-01'), 'spec.freezes[0].from', 'as in RFC 3339'],
  ['a freeze until a day', freeze('2026-12-20', 'Monday'), 'spec.freezes[0].to', 'as in RFC 3339'],
  [
    'a freeze without a zone',
    freeze('2026-12-20T10:00:00', '2026-12-21'),
    'spec.freezes[0].from',
    'time with its zone',
  ],
  ['a label key with a space', group('my zone'), 'spec.maxUnavailablePer[0].topologyKey', 'key of a node label'],
  ['a label key of two slashes', group('a/b/c'), 'spec.maxUnavailablePer[0].topologyKey', 'key of a node label'],
  [
    'a group without a value',
    { maxUnavailablePer: [{ topologyKey: 'a' }] },
    'spec.maxUnavailablePer[0].value',
    'Required',
  ],
  ['more than 100% of a group', group('a', '200%'), 'spec.maxUnavailablePer[0].value', 'from 0% to 100%'],
  [
    'two budgets for one label',
    { maxUnavailablePer: many(2, () => ({ topologyKey: 'a', value: 1 })) },
    'spec.maxUnavailablePer[1]',
    'Duplicate value',
  ],
  ['order after a Deployment', after({ kind: 'Deployment' }), 'spec.after[0].kind', 'Unsupported value'],
  ['order after another group', after({ apiGroup: 'batch' }), 'spec.after[0].apiGroup', 'Unsupported value'],
  ['order after a DaemonSet twice', { after: many(2, () => ({ name: 'a' })) }, 'spec.after[1]', 'Duplicate value'],
  ['order after no name', { after: [{ name: 'A_b' }] }, 'spec.after[0].name', 'must be the name of an object'],
];

export const planCases: readonly PlanCase[] = [
  ...good,
  ...bad.map(([name, spec, ...refused]) => ({ name, spec, refused })),
];
