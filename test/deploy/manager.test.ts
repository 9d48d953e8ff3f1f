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

const container = (): Container => {
  const objects = parseAllDocuments(read('deploy/manager.yaml')).map((document) => document.toJS() as { kind: string });
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as {
    kind: string;
    spec: { template: { spec: { containers: Container[] } } };
  };
  return deployment.spec.template.spec.containers[0]!;
};

test('the Deployment runs the manager image of the Containerfile', () => {
  const { image } = container();
  assert.equal(image, `edgeset/manager:${manifest.version}`);
  assert.ok(read('Containerfile').includes(`-t ${image} `));
});

test("the manager accepts the Deployment's flags", async () => {
  // The manager checks the log format last: it would report any other invalid flag first.
  const { code, stderr } = await run([...container().args, '--log-format=none']);
  assert.equal(code, 2);
  assert.match(stderr, /^edgeset: --log-format: "none" is not known/);
});

test('probes and ports of the Deployment match its flags', () => {
  const { args, ports, livenessProbe, readinessProbe } = container();
  const port = (name: string): string => `:${ports.find((each) => each.name === name)?.containerPort}`;
  assert.ok(args.includes(`--metrics-bind-address=${port('metrics')}`));
  assert.ok(args.includes(`--health-probe-bind-address=${port('health')}`));
  assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: 'health' });
  assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'health' });
});

test('the policy accepts exactly the versions of Advanced DaemonSets that are served, and none without them', () => {
  const { spec } = parse(read('deploy/crds/apps.kruise.io_daemonsets.yaml')) as {
    spec: { group: string; versions: { name: string; served: boolean }[] };
  };
  const served = spec.versions.filter((version) => version.served).map(({ name }) => `'${spec.group}/${name}'`);
  const accepted = (file: string): string | undefined => {
    const [policy] = parseAllDocuments(read(file)).map(
      (document) => document.toJS() as { spec: { variables: { name: string; expression: string }[] } },
    );
    return policy?.spec.variables.find(({ name }) => name === 'advanced')?.expression;
  };
  assert.equal(accepted('deploy/advanced/policy.yaml'), `[${served.join(', ')}]`);
  assert.equal(accepted('deploy/policy.yaml'), '[]');
});
