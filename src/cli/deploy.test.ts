import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { main } from './main.ts';
import { version } from './version.ts';

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

test('the Deployment runs the image that Containerfile builds', () => {
  const { image } = container();
  assert.equal(image, `edgeset/manager:${version}`);
  assert.ok(read('Containerfile').includes(`-t ${image} `));
});

test("the Deployment's flags are all accepted", async () => {
  let stderr = '';
  // The manager looks at the log's format last: whatever is wrong with another flag would be said instead.
  const code = await main([...container().args, '--log-format=none'], {
    stdout: () => undefined,
    stderr: (text) => (stderr += text),
    terminal: false,
    environment: {},
    random: () => 0,
  });
  assert.equal(code, 2);
  assert.match(stderr, /^edgeset: --log-format: "none" is not known/);
});

test('probes and ports of the Deployment are those of its flags', () => {
  const { args, ports, livenessProbe, readinessProbe } = container();
  const port = (name: string): string => `:${ports.find((each) => each.name === name)?.containerPort}`;
  assert.ok(args.includes(`--metrics-bind-address=${port('metrics')}`));
  assert.ok(args.includes(`--health-probe-bind-address=${port('health')}`));
  assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: 'health' });
  assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'health' });
});

test('what Containerfile copies runs with the production packages alone', (t) => {
  const stage =
    read('Containerfile')
      .split(/^FROM /m)
      .at(-1) ?? '';
  const copied = [...stage.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)].flatMap(([, from = '']) => from.split(' '));
  const app = mkdtempSync(path.join(tmpdir(), 'edgeset-image-'));
  t.after(() => rmSync(app, { recursive: true }));
  for (const from of copied) {
    // As .dockerignore leaves tests and their helpers out.
    const filter = (file: string): boolean => !file.endsWith('.test.ts') && path.basename(file) !== 'testing';
    cpSync(path.join(root, from), path.join(app, from), { recursive: true, filter });
  }
  for (const name of Object.keys(manifest.dependencies)) {
    const place = path.join(app, 'node_modules', name);
    mkdirSync(path.dirname(place), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), place);
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(app, 'bin', 'edgeset.ts'), ...args], {
      cwd: '/',
      encoding: 'utf8',
      env: {},
    });

  const crds = run('crds');
  assert.equal(crds.status, 0, crds.stderr);
  assert.match(crds.stdout, /^kind: CustomResourceDefinition$/m);
  // Loads the manager whole, then refuses.
  const manager = run('manager', '--log-format=none');
  assert.equal(manager.status, 2, manager.stderr);
  assert.match(manager.stderr, /^edgeset: --log-format: /);
});
