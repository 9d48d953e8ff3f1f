import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { createClient, defineResource, loadClusterConfig } from '../../kube/index.ts';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import { runCluster } from './run.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-cluster-command-'));
after(() => rmSync(folder, { recursive: true }));

const nodes = defineResource<object>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });

/** Runs the command; `up` settles when it has said how to reach it. */
const start = (flags: Parameters<typeof runCluster>[0]) => {
  const signals = new EventEmitter();
  const up = Promise.withResolvers<string>();
  let told = '';
  const io = {
    stdout: (text: string) => up.resolve(text),
    stderr: (text: string) => {
      told += text;
    },
    terminal: false,
    environment: {},
    random: Math.random,
  };
  const ended = runCluster(flags, io, signals);
  ended.catch(up.reject);
  up.promise.catch(() => undefined);
  return { up: up.promise, ended, told: () => told, stop: () => signals.emit('SIGTERM'), signals };
};

describe('edgeset cluster', () => {
  it('serves ready nodes by the kubeconfig that it wrote, and takes it away on SIGTERM', async () => {
    const file = path.join(folder, 'up');
    const running = start({ kubeconfigOut: file, nodes: '2' });
    assert.equal(await running.up, `export KUBECONFIG=${file}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600, 'for its owner only');
    const env = { clock: systemClock, random: Math.random, log: silentLogger };
    const client = createClient(await loadClusterConfig({ kubeconfig: file, env: {} }), { env, userAgent: 'test' });
    const { items } = await client.list<{ metadata?: { name?: string } }>(nodes);
    const names = items.map(({ metadata }) => metadata?.name ?? '');
    assert.deepEqual(names.toSorted(), ['node-1', 'node-2']);
    await client.close();
    assert.match(running.told(), /kubectl annotate node node-1 edgeset\.io\/sim=offline/);
    running.stop();
    assert.equal(await running.ended, 0);
    assert.equal(existsSync(file), false);
    assert.deepEqual(running.signals.eventNames(), [], 'nobody listens any more');
  });

  it('takes the place of its own old kubeconfig, and of no other file', async () => {
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

  it('names a port that is taken, and leaves no file', async () => {
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

  it('names a folder that is not there', async () => {
    const running = start({ kubeconfigOut: path.join(folder, 'no', 'such', 'folder') });
    await assert.rejects(running.ended, { code: 'InvalidOption', flag: '--kubeconfig-out', message: /ENOENT/ });
  });
});
