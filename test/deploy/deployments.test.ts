import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { run } from '../../src/cli/testing/index.ts';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface Container {
  image: string;
  args: string[];
  ports: { name: string; containerPort: number }[];
  livenessProbe: { httpGet: { path: string; port: string } };
  readinessProbe: { httpGet: { path: string; port: string } };
}
interface Deployment {
  kind: string;
  spec: { template: { spec: { containers: [Container] } } };
}

const objectsIn = <T>(file: string): T[] => parseAllDocuments(read(file)).map((document) => document.toJS() as T);

/** By the flag, the port that it names. */
const DEPLOYMENTS = [
  ['manager', 'deploy/manager.yaml', { 'metrics-bind-address': 'metrics', 'health-probe-bind-address': 'health' }],
  [
    'dashboard',
    'deploy/dashboard/dashboard.yaml',
    { listen: 'dashboard', 'metrics-bind-address': 'metrics', 'health-probe-bind-address': 'health' },
  ],
  [
    'reach',
    'deploy/multicluster/reach/reach.yaml',
    { 'metrics-bind-address': 'metrics', 'health-probe-bind-address': 'health' },
  ],
] as const;

for (const [name, file, flags] of DEPLOYMENTS) {
  const deployment = objectsIn<Deployment>(file).find(({ kind }) => kind === 'Deployment');
  assert.ok(deployment);
  const [{ image, args, ports, livenessProbe, readinessProbe }] = deployment.spec.template.spec.containers;

  test(`the Deployment runs the image of the Containerfile with flags that the ${name} accepts`, async () => {
    // One image has both.
    assert.equal(image, `edgeset/${name === 'reach' ? 'manager' : name}:${manifest.version}`);
    assert.ok(read('Containerfile').includes(`-t ${image} `));
    // The log format is checked last: any other invalid flag would be reported first.
    const { code, stderr } = await run([...args, '--log-format=none']);
    assert.equal(code, 2);
    assert.match(stderr, /^edgeset: --log-format: "none" is not known/);
  });

  test(`probes and ports of the Deployment match the flags of the ${name}`, () => {
    for (const [flag, port] of Object.entries(flags))
      assert.ok(args.includes(`--${flag}=:${ports.find((each) => each.name === port)?.containerPort}`), flag);
    assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: 'health' });
    assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'health' });
  });
}

test('the account of the dashboard only reads, and asks who a caller is', () => {
  const rules = objectsIn<{ rules?: { resources: string[]; verbs: string[] }[] }>('deploy/dashboard/rbac.yaml').flatMap(
    (object) => object.rules ?? [],
  );
  const writes = rules.filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
  assert.deepEqual(
    writes.map(({ resources, verbs }) => [resources, verbs]),
    [
      [['tokenreviews'], ['create']],
      [['subjectaccessreviews'], ['create']],
    ],
  );
  assert.ok(!rules.some(({ resources }) => resources.includes('secrets')));
});

test('the policy accepts exactly the versions of Advanced DaemonSets that are served, and none without them', () => {
  const { spec } = parse(read('deploy/crds/apps.kruise.io_daemonsets.yaml')) as {
    spec: { group: string; versions: { name: string; served: boolean }[] };
  };
  const served = spec.versions.filter((version) => version.served).map(({ name }) => `'${spec.group}/${name}'`);
  const accepted = (file: string): string | undefined => {
    const [policy] = objectsIn<{ spec: { variables: { name: string; expression: string }[] } }>(file);
    return policy?.spec.variables.find(({ name }) => name === 'advanced')?.expression;
  };
  assert.equal(accepted('deploy/advanced/policy.yaml'), `[${served.join(', ')}]`);
  assert.equal(accepted('deploy/policy.yaml'), '[]');
});
