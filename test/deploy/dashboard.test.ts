import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
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
interface Rules {
  kind: string;
  rules?: { resources: string[]; verbs: string[] }[];
}

const objectsIn = <T extends { kind: string }>(file: string): T[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as T);

const container = (): Container => {
  const deployment = objectsIn<{ kind: string; spec: { template: { spec: { containers: Container[] } } } }>(
    'deploy/dashboard/dashboard.yaml',
  ).find(({ kind }) => kind === 'Deployment');
  const [first] = deployment?.spec.template.spec.containers ?? [];
  assert.ok(first);
  return first;
};

test('the Deployment runs the image of the Containerfile with flags that the dashboard accepts', async () => {
  const { image, args } = container();
  assert.equal(image, `edgeset/dashboard:${manifest.version}`);
  assert.ok(read('Containerfile').includes(`-t ${image} `));
  // The log format is checked last: any other invalid flag would be reported first.
  const { code, stderr } = await run([...args, '--log-format=none']);
  assert.equal(code, 2);
  assert.match(stderr, /^edgeset: --log-format: "none" is not known/);
});

test('probes and ports of the Deployment match its flags', () => {
  const { args, ports, livenessProbe, readinessProbe } = container();
  const port = (name: string): string => `:${ports.find((each) => each.name === name)?.containerPort}`;
  assert.ok(args.includes(`--listen=${port('dashboard')}`));
  assert.ok(args.includes(`--health-probe-bind-address=${port('health')}`));
  assert.ok(args.includes(`--metrics-bind-address=${port('metrics')}`));
  assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: 'health' });
  assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'health' });
});

test('the account only reads, and asks who a caller is', () => {
  const rules = objectsIn<Rules>('deploy/dashboard/rbac.yaml').flatMap((object) => object.rules ?? []);
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
