import { globSync } from 'node:fs';
import { run } from '../../src/cli/testing/index.ts';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { alias, annotation, ownKey, planCrds } from '../../src/words/index.ts';
import { codeIn, firstCells, hasPage, page, read, rowsOf, section } from './documents.ts';
import { fieldsOf } from './fields.ts';

/** What one part of the reference describes, row by row. */
export interface Area {
  /** As the code or a schema has it. */
  inCode: readonly string[];
  /** As the reference has it. */
  documented: readonly string[];
  /** How a case may call the row. Default: as it is called here. */
  words?: (row: string) => readonly string[];
}

const unique = (values: Iterable<string>): string[] => [...new Set(values)].toSorted();

const last = (path: string): string => path.replaceAll('[]', '').split('.').at(-1) ?? path;

/** Constants by which cases call a key. */
const nameOfKey = new Map<string, string>([
  [annotation.strategy, 'strategyKey'],
  [annotation.maxUnavailable, 'budgetKey'],
  [annotation.rolloutPlan, 'planKey'],
  [annotation.recreate, 'recreateKey'],
]);

// ---- annotations

const isKey = (text: string): boolean => /^[a-z.]+\/[\w-]+$/.test(text);
/** Of labels and finalizers on objects that only edgeset makes, and of clusters, whose label has a reference of its own. */
const internal: ReadonlySet<string> = new Set([
  ownKey.pullPod,
  ownKey.pullRevision,
  ownKey.preDeleteFinalizer,
  ownKey.simulatedNode,
  ownKey.reach,
]);
const onlyAdvanced: readonly string[] = [
  annotation.preDeleteTimeoutSeconds,
  annotation.recreate,
  'daemonset.kruise.io/progressive-create-pod',
  'apps.kruise.io/inplace-update-grace',
];
const keys = [...Object.values(annotation), ...Object.values(alias), ...Object.values(ownKey)];

const keyWords = (key: string): string[] => [key, nameOfKey.get(key) ?? key];

const annotations = (): Area => ({
  inCode: keys.filter((key) => !internal.has(key) && !onlyAdvanced.includes(key)),
  documented: rowsOf(page('annotations')).filter(isKey),
  words: keyWords,
});

/** Which settings an Advanced DaemonSet has is code without a list: the reference is compared with the keys that there are. */
const advancedAnnotations = (): Area => {
  const documented = rowsOf(section(page('advanced-daemonset'), '## Annotations')).filter(
    (code) =>
      isKey(code) && !code.startsWith('lifecycle.apps.kruise.io/') && code !== 'apps.kruise.io/inplace-update-state',
  );
  const known = new Set([...keys, ...onlyAdvanced]);
  return { inCode: documented.filter((key) => known.has(key)), documented, words: keyWords };
};

// ---- fields

const planFields = (): Area => {
  const [plan, , approval] = planCrds.map(
    ({ spec }) => spec.versions[0]?.schema?.openAPIV3Schema?.properties?.spec ?? {},
  );
  const closed = new Set(['stages[].nodes.selector', 'skipNodes.selector']);
  const documented = [
    ...[
      'stages[]',
      'stages[].promote',
      'checks[]',
      'windows[]',
      'freezes[]',
      'maxUnavailablePer[]',
      'after[]',
      'skipNodes',
    ].flatMap((list) => {
      const heading = /^### `(windows|freezes)/.test(`### \`${list}`)
        ? '### `windows[]` and `freezes[]`'
        : `### \`${list}\``;
      const prefix = /^(windows|freezes)/.test(list) ? '' : `${list}.`;
      const rows = rowsOf(section(page('rollout-plan'), heading).split('### ')[0] ?? '');
      // `promote` has its own table.
      const fields = rows.filter((row) => /^[a-z][\w.[\]]*$/i.test(row) && row !== 'promote');
      return fields.map((row) => `${prefix}${row}`);
    }),
    ...rowsOf(section(page('rollout-plan'), '## The approval')).map((row) => row.replace(/^spec\./, 'approval.')),
    'windowsOnRollback',
  ];
  return {
    inCode: [...fieldsOf(plan ?? {}, '', closed), ...fieldsOf(approval ?? {}, 'approval', closed)],
    documented: documented.flatMap((row) => (row.endsWith('args[]') ? [`${row}.name`, `${row}.value`] : [row])),
    words: (row) => [last(row)],
  };
};

const advancedFields = (): Area => {
  const version = advancedDaemonSetCrd.spec.versions.find(({ storage }) => storage);
  const { spec = {}, status = {} } = version?.schema?.openAPIV3Schema?.properties ?? {};
  const closed = new Set(
    ['selector', 'template', 'updateStrategy.rollingUpdate.selector'].map((field) => `spec.${field}`),
  );
  const closedLists = [
    'spec.lifecycle.preDelete.labelsHandler',
    'spec.lifecycle.preDelete.finalizersHandler',
    'spec.lifecycle.inPlaceUpdate',
    'status.conditions',
  ];
  const all = new Set([...closed, ...closedLists]);
  const text = page('advanced-daemonset');
  const documented = [
    '## spec',
    '## spec.updateStrategy',
    '## spec.scaleStrategy',
    '## spec.lifecycle',
    '## status',
  ].flatMap((heading) => {
    const own = section(text, heading).split(/^\| (?:condition|reason) /m)[0] ?? '';
    return rowsOf(own)
      .filter((row) => /^[a-z][\w.]*$/i.test(row))
      .map((row) => `${heading.slice(3)}.${row}`);
  });
  return {
    inCode: [...fieldsOf(spec, 'spec', all), ...fieldsOf(status, 'status', all)],
    documented,
    words: (row) => [last(row)],
  };
};

// ---- conditions and reasons

/** The words in CamelCase that a source writes as texts. */
const camelIn = (files: readonly string[]): string[] =>
  files.flatMap((file) => [...read(file).matchAll(/'([A-Z][a-z]+(?:[A-Z][a-z]+)*)'/g)].map(([, word = '']) => word));

const conditions = (): Area => {
  const text = section(page('rollout-object'), '## Conditions');
  const types = rowsOf(text);
  const prose = text.split('\n\n').filter((part) => !part.startsWith('|') && /^(Reasons|While everything)/.test(part));
  const inTable = text.split('\n').filter((line) => line.startsWith('|'));
  const spoken = [...prose, ...inTable].flatMap(codeIn).filter((word) => /^[A-Z][a-z]+([A-Z][a-z]+)*$/.test(word));
  // `Coverage` and the others are what a stage waits for, which is another field; `True` is a status.
  const waits = new Set(['Coverage', 'MinNodes', 'Soak', 'Checks', 'Approval', 'Timeout', 'Held', 'True', 'Failed']);
  const negative = new Set(['NotStalled', 'NotPaused', 'NotHalted']);
  const known = [
    ...camelIn(['src/rollout/report/conditions.ts']),
    'NotManaged',
    'Failures',
    'RolledBack',
    'CheckFailed',
  ];
  const documented = unique([...types, ...spoken].filter((word) => !waits.has(word)));
  return { inCode: unique(known.filter((word) => !waits.has(word) && !negative.has(word))), documented };
};

const advancedConditions = (): Area => {
  const text = section(page('advanced-daemonset'), '## status');
  const tables = text.slice(text.indexOf('| condition |')).split('For example')[0] ?? '';
  const rows = tables.split('\n').filter((line) => line.startsWith('|'));
  const documented = unique(
    rows
      .flatMap((line) => codeIn(line))
      .filter((word) => /^[A-Z][A-Za-z]+$/.test(word) && !/^(True|False)$/.test(word)),
  );
  const files = ['status/status.ts', 'conflicting-controllers.ts', 'advanced-view.ts', 'revisions/target.ts'];
  const code = new Set([
    ...files.flatMap((file) => camelIn([`src/kinds/advanced/${file}`])),
    ...camelIn(['src/rollout/report/conditions.ts']),
  ]);
  return { inCode: documented.filter((word) => code.has(word)), documented };
};

// ---- Events

const sources = (pattern: string): string =>
  globSync(pattern, { cwd: `${import.meta.dirname}/../..` })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .toSorted()
    .map(read)
    .join('\n');

const reasonsIn = (text: string): string[] => [
  ...[...text.matchAll(/event\(\s*'(?:Normal|Warning)',\s*'(\w+)'/g)].map(([, reason = '']) => reason),
  ...[...text.matchAll(/warnOnce\(\s*(?:[^,()]|\([^()]*\))+,\s*'(\w+)'/g)].map(([, reason = '']) => reason),
  ...[...text.matchAll(/(?:done|failed): '(\w+)'/g)].map(([, reason = '']) => reason),
];

const managerEvents = (): Area => {
  const stageEvents = camelIn(['src/controller/events/stage-events.ts']).filter((word) =>
    /^(Stage|Check)\w/.test(word),
  );
  const conflicts = camelIn(['src/kinds/advanced/conflicting-controllers.ts', 'src/kinds/advanced/advanced-view.ts']);
  const ofEvents = rowsOf(section(page('events'), '## From the manager (`edgeset.io/manager`)'));
  const documented = unique([...ofEvents, ...rowsOf(section(page('advanced-daemonset'), '## Events'))]);
  const text = sources('src/{controller,kinds,prefetch,manager}/**/*.ts');
  const spoken = new Set([...text.matchAll(/'([A-Z]\w+)'/g)].map(([, word = '']) => word));
  return {
    inCode: unique([
      ...reasonsIn(text),
      ...stageEvents,
      ...conflicts.filter((word) => documented.includes(word)),
      ...documented.filter((word) => spoken.has(word)),
    ]),
    documented,
  };
};

const agentEvents = (): Area => {
  const text = sources('src/agent/**/*.ts');
  const documented = rowsOf(section(page('events'), '## From the agent (`edgeset.io/agent`)'));
  return { inCode: documented.filter((reason) => text.includes(`'${reason}'`)), documented };
};

// ---- metrics

const METRIC = /'((?:edgeset|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+)'/g;

const metricsOf = (pattern: string): string[] =>
  unique([...sources(pattern).matchAll(METRIC)].map(([, name = '']) => name));

const metricsIn = (text: string): string[] =>
  unique(
    rowsOf(text).filter((name) =>
      /^(edgeset|controller_runtime|workqueue|rest_client|leader_election)_\w+$/.test(name),
    ),
  );

const metrics = (files: string, text: string): Area => ({ inCode: metricsOf(files), documented: metricsIn(text) });

// ---- command lines

const helpOf = async (...args: string[]): Promise<string> => (await run([...args, '--help'])).stdout;

/** Of a help text without the flags of all commands. */
const flagsIn = (help: string): string[] =>
  [...(help.split('\nExamples:')[0] ?? '').matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
    .map(([, flag = '']) => flag)
    .filter((flag) => flag !== '--help' && flag !== '--version');

const connectionFlags = async (): Promise<string[]> => flagsIn((await run(['options'])).stdout);

/** `COMMAND` and `COMMAND --flag`; the flags of all commands are an area of their own. */
const commands = async (): Promise<Area> => {
  const names = [...(await helpOf()).matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(([, name = '']) => name);
  const inCode: string[] = [];
  const own = names.filter((name) => !/^(manager|reach|agent|help|demo|cluster)$/.test(name));
  for (const name of own) {
    const flags = flagsIn(await helpOf(name));
    inCode.push(name, ...flags.map((flag) => `${name} ${flag}`));
  }
  const shared = section(page('cli'), '## Flags of all commands');
  const short: Readonly<Record<string, string>> = {
    '--all-namespaces': '-A',
    '--selector': '-l',
    '--watch': '-w',
    '--output': '-o',
  };
  return {
    inCode,
    documented: inCode.filter((row) => {
      const [name = '', flag] = row.split(' ');
      const words = hasPage(`cli/${name}`) ? page(`cli/${name}`) : '';
      if (flag === undefined) return words !== '';
      return [flag, short[flag] ?? flag].some((each) => `${words}${flag === '--output' ? shared : ''}`.includes(each));
    }),
    words: (row) => {
      const [name = '', flag] = row.split(' ');
      const spelled = [flag ?? name, short[flag ?? ''] ?? flag ?? name];
      return spelled.flatMap((each) => [`'${each}`, `"${each}`, ` ${each}`, `\`${each}`]);
    },
  };
};

const connection = async (): Promise<Area> => ({
  inCode: await connectionFlags(),
  documented: firstCells(section(page('cli'), '## Flags of all commands'))
    .flatMap(codeIn)
    .flatMap((code) => /^(--[a-z-]+)/.exec(code)?.[1] ?? [])
    .filter((flag) => flag !== '--output' && flag !== '--help'),
  words: (row) => (row === '--namespace' ? [row, "'-n'"] : [row]),
});

const programFlags = async (program: 'manager' | 'agent' | 'reach', name: string): Promise<Area> => ({
  inCode: flagsIn(await helpOf(program)),
  documented: unique(
    firstCells(page(name))
      .flatMap(codeIn)
      .flatMap((code) => /^(--[a-z-]+)/.exec(code)?.[1] ?? []),
  ),
});

/** Variables of the environment that the product reads by itself, not Node or a library of Node. */
const environment = (): Area => ({
  inCode: unique([
    ...[
      ...sources('src/{agent,manager,reach,leading,cli,kube,http,process,checks}/**/*.ts').matchAll(
        /\b(?:environment|env)\.([A-Z][A-Z_]+)\b/g,
      ),
    ].map(([, name = '']) => name),
    'KUBECONFIG',
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'NO_PROXY',
  ]).filter((name) => !/^(KUBERNETES_EXEC_INFO|TERM)$/.test(name)),
  documented: unique(
    ['cli', 'cli/status', 'cli/get', 'manager', 'agent-flags']
      .flatMap((name) => codeIn(page(name)))
      .filter((code) => /^[A-Z][A-Z]+(_[A-Z]+)*$/.test(code) && /^(KUBECONFIG|NO_|HTTPS?_|CI$|NODE_NAME)/.test(code)),
  ),
});

// ---- the agent's API

const routes = (): Area => ({
  inCode: [...sources('src/agent/http/*-routes.ts').matchAll(/method: '(\w+)',\s*path: '([^']+)'/g)].map(
    ([, method = '', path = '']) => `${method} ${path.replace('{podName}', '{pod}')}`,
  ),
  documented: rowsOf(page('agent-api').split('## Updates')[0] ?? '').filter(
    (row) => /^(GET|POST) /.test(row) && row !== 'GET /',
  ),
  // The names in a path are a case's own.
  words: (row) => [row.split('}').at(-1) || row.split('/').at(-2) || row, row.split(' ')[1] ?? row],
});

/** Each part of the reference, by its name in test/as-shipped/proofs. */
export const areas: Readonly<Record<string, () => Area | Promise<Area>>> = {
  annotations,
  advancedAnnotations,
  planFields,
  advancedFields,
  managerFlags: () => programFlags('manager', 'manager'),
  agentFlags: () => programFlags('agent', 'agent-flags'),
  reachFlags: () => programFlags('reach', 'reach'),
  environment,
  conditions,
  advancedConditions,
  managerEvents,
  agentEvents,
  managerMetrics: () => metrics('src/{manager,process}/*.ts', section(page('manager'), '## Metrics')),
  agentMetrics: () => metrics('src/agent/metrics.ts', section(page('agent-flags'), '## Probes and metrics')),
  dashboardMetrics: () =>
    metrics('src/dashboard/in-cluster/metrics.ts', section(page('cli/dashboard'), '## In the cluster')),
  reachMetrics: () => metrics('src/reach/metrics.ts', section(page('reach'), '## Metrics')),
  connectionFlags: connection,
  commands,
  routes,
};
