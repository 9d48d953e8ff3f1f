import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { startBackground } from './background.ts';
import { createMachine, type Machine, pack, supportedNodes } from './installation.ts';
import { playTutorial } from './tutorial.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-package-'));
const nodes = supportedNodes();
let tarball = '';

before(() => {
  tarball = pack(folder);
});
after(() => rmSync(folder, { recursive: true }));

it('engines name the versions of Node on which these tests run', () => {
  const named = [...manifest.engines.node.matchAll(/(\d+)\.\d+\.\d+/g)].map(([, major]) => major);
  assert.deepEqual(named, ['22', '24', '26']);
});

/** Installs the package for all users, without a network: it must not need any other. */
const install = async (name: string, node: string): Promise<Machine> => {
  const machine = createMachine(path.join(folder, name), node);
  const { stdout, stderr } = await machine.run(`npm install --global --offline ${tarball}`);
  assert.match(stdout, /^added 1 package in /m);
  assert.equal(stderr, '');
  return machine;
};

for (const [major, node] of nodes)
  describe(`the package on Node ${major}`, { timeout: 300_000 }, () => {
    let machine: Machine;
    before(async () => {
      machine = await install(`node-${major}`, node);
    });

    it('has everything that it promises, and no file of the tests', async () => {
      const { stdout } = await machine.run('edgeset --version; node --version');
      assert.equal(stdout.startsWith(`${manifest.version}\nv${major}.`), true, stdout);
      const installed = path.join(machine.folder, 'global/lib/node_modules/edgeset');
      assert.deepEqual(readdirSync(installed).toSorted(), [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'deploy',
        'dist',
        'package.json',
      ]);
      const { stdout: crds } = await machine.run(
        `cd ${installed} && node -p 'require.resolve("edgeset/crds/edgeset.io_daemonrollouts.yaml")'`,
      );
      assert.match(readFileSync(crds.trim(), 'utf8'), /^kind: CustomResourceDefinition$/m);
      const { stdout: bash } = await machine.run('edgeset completion bash');
      assert.equal(readFileSync(path.join(installed, 'dist/completion/edgeset.bash'), 'utf8'), bash);
    });

    it('kubectl finds the plugin, its completion and nothing to warn of', async () => {
      const listed = await machine.run('kubectl plugin list');
      assert.equal(listed.stderr, '');
      assert.match(listed.stdout, /\/global\/bin\/kubectl-edgeset\n/);
      const { stdout } = await machine.run('kubectl __complete edgeset wait --ti');
      assert.match(stdout, /^--timeout\thow long to wait/m);
    });

    it('serves a cluster, on which the plugin, the manager and the agent run', async () => {
      const { KUBECONFIG = '' } = machine.environment;
      const cluster = startBackground(machine, `edgeset cluster --kubeconfig-out ${KUBECONFIG}`);
      try {
        await cluster.until(/^export KUBECONFIG/m);
        await machine.run('edgeset crds | kubectl apply -f -');
        const { stderr } = await machine.run('kubectl edgeset status');
        assert.match(stderr, /^No rollouts in namespace default\.\n/);
        const flags = '--metrics-bind-address=0 --health-probe-bind-address=0';
        const manager = startBackground(machine, `edgeset manager --leader-elect=false ${flags}`);
        await manager.until(/"msg":"starting"/);
        // The flags of Node are those of the image.
        assert.match(
          readFileSync(`/proc/${manager.pid}/cmdline`, 'utf8'),
          /--max-semi-space-size.*edgeset-manager\.mjs/,
        );
        assert.equal(await manager.stop(), 0, manager.output());
        const agent = startBackground(
          machine,
          `edgeset agent --node-name node-1 --listen 127.0.0.1:0 --state-dir ${machine.folder}/state`,
        );
        await agent.until(/"serving the API"/);
        assert.equal(await agent.stop(), 0, agent.output());
        assert.doesNotMatch(manager.output() + agent.output(), /Warning/);
      } finally {
        await cluster.stop();
      }
    });

    it('plays its demo', async () => {
      await machine.run('edgeset demo ota advanced --speed 12', { timeout: 180_000 });
    });
  });

describe('the tutorial', { timeout: 300_000 }, () => {
  const [oldest = ['', '']] = nodes;

  it(`is true of the package in an empty folder, on Node ${oldest[0]}`, async () => {
    const machine = createMachine(path.join(folder, 'tutorial'), oldest[1]);
    mkdirSync(path.join(machine.folder, 'empty'));
    await machine.run(`npm init --yes && npm install --offline ${tarball}`);
    await playTutorial(machine);
  });
});
