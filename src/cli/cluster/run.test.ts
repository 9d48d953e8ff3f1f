import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { createClient, defineResource, loadClusterConfig } from '../../kube/index.ts';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import { resolveClusterOptions, runCluster } from './run.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-cluster-command-'));
after(() => rmSync(folder, { recursive: true }));

const nodes = defineResource<object>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });

/** Runs the command; `up` resolves with its stdout once the cluster is running. */
const start = (flags: Parameters<typeof runCluster>[0]) => {
  const signals = new EventEmitter();
  const up = Promise.withResolvers<string>();
  let stderr = '';
  const io = {
    stdout: (text: string) => up.resolve(text),
    stderr: (text: string) => {
      stderr += text;
    },
    terminal: false,
    environment: {},
    random: Math.random,
  };
  const ended = runCluster(flags, io, signals);
  ended.catch(up.reject);
  up.promise.catch(() => undefined);
  return { up: up.promise, ended, stderr: () => stderr, stop: () => signals.emit('SIGTERM'), signals };
};

describe('edgeset cluster', () => {
  it('writes a kubeconfig for a cluster of ready nodes, and removes it on SIGTERM', async () => {
    const file = path.join(folder, 'up');
    const running = start({ kubeconfigOut: file, nodes: '2' });
    assert.equal(await running.up, `export KUBECONFIG=${file}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600, 'readable by its owner only');
    const env = { clock: systemClock, random: Math.random, log: silentLogger };
    const client = createClient(await loadClusterConfig({ kubeconfig: file, env: {} }), { env, userAgent: 'test' });
    const { items } = await client.list<{ metadata?: { name?: string } }>(nodes);
    const names = items.map(({ metadata }) => metadata?.name ?? '');
    assert.deepEqual(names.toSorted(), ['node-1', 'node-2']);
    await client.close();
    assert.match(running.stderr(), /kubectl annotate node node-1 edgeset\.io\/sim=offline/);
    running.stop();
    assert.equal(await running.ended, 0);
    assert.equal(existsSync(file), false);
    assert.deepEqual(running.signals.eventNames(), [], 'no signal handlers are left');
  });

  it('overwrites its own old kubeconfig, but no other file', async () => {
    const file = path.join(folder, 'mine');
    writeFileSync(file, 'apiVersion: v1\nkind: Config\ncurrent-context: production\n');
    const refused = start({ kubeconfigOut: file });
    await assert.rejects(refused.ended, { code: 'InvalidOption', flag: '--kubeconfig-out' });
    assert.match(readFileSync(file, 'utf8'), /production/);
    writeFileSync(file, JSON.stringify({ 'current-context': 'edgeset' }), { mode: 0o644 });
    const running = start({ kubeconfigOut: file, nodes: '0' });
    await running.up;
    assert.equal(statSync(file).mode & 0o777, 0o600);
    running.stop();
    await running.ended;
  });

  it('names a port that is in use, and leaves no file', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => void other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const file = path.join(folder, 'taken');
    const running = start({ kubeconfigOut: file, port: String(port) });
    await assert.rejects(running.ended, { code: 'InvalidOption', flag: '--port', message: /is in use/ });
    assert.equal(existsSync(file), false);
    other.close();
  });

  it('names a directory that does not exist', async () => {
    const running = start({ kubeconfigOut: path.join(folder, 'no', 'such', 'folder') });
    await assert.rejects(running.ended, { code: 'InvalidOption', flag: '--kubeconfig-out', message: /ENOENT/ });
  });
});

describe('the flags of edgeset cluster', () => {
  it('default to three nodes on any free port; the path becomes absolute', () => {
    const { kubeconfig, ...rest } = resolveClusterOptions({ kubeconfigOut: 'kc' });
    assert.deepEqual(rest, { nodes: 3, port: 0 });
    assert.match(kubeconfig, /^\/.*\/kc$/);
  });
  it('uses the flags', () => {
    assert.deepEqual(resolveClusterOptions({ kubeconfigOut: '/kc', nodes: '40', port: '6443' }), {
      kubeconfig: '/kc',
      nodes: 40,
      port: 6443,
    });
    assert.equal(resolveClusterOptions({ kubeconfigOut: '/kc', nodes: '0' }).nodes, 0);
  });
  for (const [flag, flags] of [
    ['--nodes', { nodes: 'many' }],
    ['--nodes', { nodes: '-1' }],
    ['--nodes', { nodes: '20001' }],
    ['--nodes', { nodes: '' }],
    ['--nodes', { nodes: '1.5' }],
    ['--port', { port: '0' }],
    ['--port', { port: '65536' }],
    ['--port', { port: 'http' }],
    ['--kubeconfig-out', { kubeconfigOut: '' }],
  ] as const)
    it(`names ${flag} when it is ${JSON.stringify(Object.values(flags)[0])}`, () => {
      assert.throws(() => resolveClusterOptions({ kubeconfigOut: '/kc', ...flags }), { code: 'InvalidOption', flag });
    });
});
