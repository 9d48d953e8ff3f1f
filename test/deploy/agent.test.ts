import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { components } from '../../scripts/images/components.ts';
import { run } from '../../src/cli/testing/index.ts';
import { loadClusterConfig } from '../../src/kube/index.ts';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const guide = read('docs/how-to/agent-systemd.md');
const unit = read('deploy/agent/edgeset-agent.service').replaceAll('\\\n', ' ');

interface Probe {
  httpGet: { host: string; path: string; port: number };
}
interface Container {
  image: string;
  args: string[];
  env: { name: string }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  resources: { limits: { memory: string } };
  securityContext: { runAsUser: number };
  volumeMounts: { name: string; mountPath: string }[];
}
interface PodSpec {
  containers: [Container];
  initContainers: [Container];
  volumes: { name: string; hostPath?: { path: string } }[];
  serviceAccountName: string;
}
interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: { template: { spec: PodSpec }; matchConditions: { expression: string }[] };
  subjects: { kind: string; name: string; namespace?: string }[];
}

const manifests = (file: string): Manifest[] =>
  parseAllDocuments(read(`deploy/agent/${file}`)).map((document) => document.toJS() as Manifest);

const podSpec = (): PodSpec => {
  const found = manifests('daemonset.yaml').find(({ kind }) => kind === 'DaemonSet');
  assert.ok(found);
  return found.spec.template.spec;
};

/** The agent's error about its flags. It checks the log format last. */
const judgeFlags = async (args: readonly string[]): Promise<string> => {
  const { code, stderr } = await run(['agent', ...args, '--log-format=none'], { environment: { NODE_NAME: 'node-1' } });
  assert.equal(code, 2);
  return stderr;
};

test('both containers of the DaemonSet run the agent image', () => {
  const { containers, initContainers } = podSpec();
  for (const { image } of [...containers, ...initContainers]) assert.equal(image, `edgeset/agent:${manifest.version}`);
});

test("the agent accepts the DaemonSet's flags, and gets its node from the environment", async () => {
  const [{ args, env }] = podSpec().containers;
  assert.match(await judgeFlags(args), /^edgeset: --log-format: "none" is not known/);
  assert.deepEqual(
    env.map(({ name }) => name),
    ['NODE_NAME'],
  );
});

test("the DaemonSet's probes use the loopback address of its flags", () => {
  const [{ args, startupProbe, livenessProbe, readinessProbe }] = podSpec().containers;
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
    assert.ok(args.includes(`--health-probe-bind-address=${httpGet.host}:${httpGet.port}`));
  assert.equal(livenessProbe.httpGet.path, '/healthz');
  assert.equal(readinessProbe.httpGet.path, '/readyz');
});

test("the state directory is on disk and owned by the agent's user", () => {
  const { containers, initContainers, volumes } = podSpec();
  const [agent] = containers;
  const state = agent.args.find((arg) => arg.startsWith('--state-dir='))?.slice('--state-dir='.length);
  const { name } = agent.volumeMounts.find(({ mountPath }) => mountPath === state) ?? {};
  assert.equal(volumes.find((volume) => volume.name === name)?.hostPath?.path, '/var/lib/edgeset-agent');
  const uid = agent.securityContext.runAsUser;
  assert.deepEqual(initContainers[0].args, ['prepare-state', `--state-dir=${state}`]);
  assert.ok(initContainers[0].volumeMounts.some((mount) => mount.name === name && mount.mountPath === state));
  const { stdout } = spawnSync(process.execPath, [path.join(root, 'bin/agent.ts'), 'prepare-state', '--help'], {
    encoding: 'utf8',
  });
  assert.ok(stdout.includes(`(default: ${uid})`), stdout);
  assert.equal(components.find((each) => each.name === 'agent')?.uid, uid);
});

test('RBAC, admission policy and DaemonSet use the same ServiceAccount', () => {
  const [account] = manifests('rbac.yaml');
  assert.ok(account);
  const { name, namespace } = account.metadata;
  assert.equal(podSpec().serviceAccountName, name);
  const conditions = manifests('policy.yaml')[0]?.spec.matchConditions.map(({ expression }) => expression) ?? [];
  assert.match(conditions.join(), new RegExp(`== 'system:serviceaccount:${namespace}:${name}'`));
  const bindings = readdirSync(path.join(root, 'deploy/agent/access'))
    .flatMap((file) => manifests(`access/${file}`))
    .filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding');
  assert.equal(bindings.length, 3);
  for (const { subjects } of bindings) {
    assert.deepEqual(
      subjects.map(({ kind, name: subject, namespace: within }) => [kind, subject, within]),
      [
        ['ServiceAccount', name, namespace],
        ['Group', 'edgeset:agents', undefined],
      ],
    );
  }
});

test('the kustomization contains no role bindings', () => {
  const { resources } = parse(read('deploy/agent/kustomization.yaml')) as { resources: string[] };
  const kinds = resources.flatMap((file) => manifests(file).map(({ kind }) => kind));
  assert.ok(kinds.includes('ValidatingAdmissionPolicyBinding'));
  assert.ok(!kinds.includes('RoleBinding') && !kinds.includes('ClusterRoleBinding'));
});

test('the agent accepts the flags of the systemd unit and of the guide', async () => {
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const [, inGuide = ''] = /^AGENT_FLAGS=(.+)$/m.exec(guide) ?? [];
  const [, examples = ''] = /^# Additional flags, such as (.+)$/m.exec(guide) ?? [];
  const flags = command.slice(command.indexOf('.mjs') + 4).replace('$AGENT_FLAGS', `${inGuide} ${examples}`);
  // The owner's name is known on the device alone.
  const args = flags.replace('=owner', '=0').split(/\s+/).filter(Boolean);
  assert.ok(args.length >= 5, flags);
  assert.match(await judgeFlags(args), /^edgeset: --log-format: "none" is not known/);
});

test("the guide's kubeconfig names the systemd credentials of the unit", async (t) => {
  const [, text = ''] = /^```yaml kubeconfig\n(.+?)^```$/ms.exec(guide) ?? [];
  const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-kubeconfig-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, text);
  const { auth } = await loadClusterConfig({ kubeconfig, env: {} });
  const handed = [...unit.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, name]) => ({
    from: 'file',
    path: `/run/credentials/edgeset-agent.service/${name}`,
  }));
  assert.deepEqual([auth.certificate?.cert, auth.certificate?.key], handed);
});

const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find((file) => existsSync(file));

test('systemd accepts the unit, and its sandbox is tight', { skip: analyze === undefined }, (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-unit-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = path.join(dir, 'edgeset-agent.service');
  writeFileSync(file, unit.replace('/usr/local/bin/node', process.execPath));
  const verify = spawnSync(analyze ?? '', ['verify', '--man=no', file], { encoding: 'utf8' });
  assert.equal(verify.stderr, '');
  assert.equal(verify.status, 0);
  const security = spawnSync(analyze ?? '', ['security', '--offline=yes', '--threshold=20', file], {
    encoding: 'utf8',
  });
  assert.equal(security.status, 0, security.stdout);
});

test('the build stage of the images copies every file that the build reads', (t) => {
  const [, stage = ''] = /^FROM .+ AS build\n(.+?)^FROM /ms.exec(read('Containerfile')) ?? [];
  const app = mkdtempSync(path.join(tmpdir(), 'edgeset-build-'));
  t.after(() => rmSync(app, { recursive: true }));
  for (const [, from = ''] of stage.matchAll(/^COPY (.+) \S+$/gm))
    for (const each of from.split(' '))
      cpSync(path.join(root, each), path.join(app, each), {
        recursive: true,
        filter: (source) => !source.endsWith('.test.ts') && path.basename(source) !== 'testing',
      });
  symlinkSync(path.join(root, 'node_modules'), path.join(app, 'node_modules'));
  assert.match(stage, /npm run build:images -- /);
  // It builds the bundles, and then refuses the folder before it downloads anything.
  const built = spawnSync(process.execPath, ['scripts/build-images.ts', '--arch=amd64', '--rootfs=src'], {
    cwd: app,
    encoding: 'utf8',
  });
  assert.match(built.stderr, /^build:images: --rootfs: src exists: /);
  const alone = path.join(app, 'alone.mjs');
  cpSync(path.join(app, 'dist/agent/edgeset-agent.mjs'), alone);
  rmSync(path.join(app, 'node_modules'));
  const agent = spawnSync(process.execPath, [alone, '--log-format=none'], {
    cwd: '/',
    encoding: 'utf8',
    env: { NODE_NAME: 'node-1' },
  });
  assert.match(agent.stderr, /--log-format: "none" is not known/);
  assert.equal(agent.status, 2, agent.stderr);
});
