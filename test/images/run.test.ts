import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { components, entrypointOf } from '../../scripts/images/components.ts';
import { archiveOfImage, referenceOf } from '../../scripts/images/image.ts';
import { createClient, customResourceDefinitions, type KubeObject, loadClusterConfig } from '../../src/kube/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { freePort } from '../cluster/controlplane.ts';
import { type Containerd, startContainerd, whyNoContainerd } from '../containerd/index.ts';
import { eventually } from '../support/index.ts';
import { architecture, buildImages } from './images.ts';

const edgeset = path.join(import.meta.dirname, '../../bin/edgeset.ts');
/** Starting a program from an image of a cold disk, on a busy machine. */
const PATIENCE = { everyMs: 100 };

const responds = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).status === 200;
  } catch {
    return false;
  }
};

describe('the images in containerd', { skip: whyNoContainerd() }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-images-'));
  const kubeconfig = path.join(folder, 'admin');
  const children: ChildProcess[] = [];
  let count = 0;
  let containerd: Containerd;

  const start = (program: string, args: readonly string[]) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const ended = new Promise<number | string>((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
    });
    return { output: () => output, ended };
  };

  const ctr = (...args: string[]) => [`--address=${containerd.socket}`, '--namespace=k8s.io', ...args];

  /** With the image's user, a root that is read-only, and the network of this machine. */
  const runImage = (name: string, mounts: readonly string[], ...args: string[]) => {
    const component = components.find((each) => each.name === name);
    assert.ok(component);
    const options = mounts.flatMap((mount) => ['--mount', `type=bind,${mount}`]);
    const fixed = ['run', '--rm', '--read-only', '--net-host', ...options, referenceOf(component)];
    // Arguments of ctr replace the entrypoint, too.
    // runc keeps its containers outside of the test's folder, so that they need names of their own.
    const id = `edgeset-${name}-${process.pid}-${(count += 1)}`;
    return { id, ...start('ctr', ctr(...fixed, id, ...entrypointOf(component), ...args)) };
  };

  const kill = (id: string, signal: string) => spawnSync('ctr', ctr('tasks', 'kill', `--signal=${signal}`, id));

  const untilReady = async (program: ReturnType<typeof runImage>, port: number): Promise<void> => {
    try {
      await Promise.race([
        eventually('it is ready', () => responds(`http://127.0.0.1:${port}/readyz`), PATIENCE),
        program.ended.then((code) => assert.fail(`ended with ${code}: ${program.output()}`)),
      ]);
    } catch (error) {
      kill(program.id, 'SIGKILL');
      await program.ended;
      throw new Error(program.output(), { cause: error });
    }
  };

  const kubeconfigFor = (uid: number): string => {
    const file = path.join(folder, `kubeconfig-${uid}`);
    copyFileSync(kubeconfig, file);
    chownSync(file, uid, uid);
    return `src=${file},dst=/kubeconfig,options=rbind:ro`;
  };

  before(async () => {
    containerd = await startContainerd();
    for (const { component, image } of await buildImages()) {
      const file = path.join(folder, `${component.name}.tar`);
      writeFileSync(file, archiveOfImage(image, component, architecture));
      const { status, stderr } = spawnSync('ctr', ctr('images', 'import', file), { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    }
    const cluster = start(process.execPath, [edgeset, 'cluster', '--nodes=2', `--kubeconfig-out=${kubeconfig}`]);
    await eventually('the cluster runs', () => cluster.output().includes('export KUBECONFIG'), PATIENCE);
    const crds = runImage('manager', [], 'crds');
    assert.equal(await crds.ended, 0, crds.output());
    const env = { clock: systemClock, random: Math.random, log: silentLogger };
    const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), { env, userAgent: 'test' });
    for (const document of parseAllDocuments(crds.output()))
      await client.create<KubeObject>(customResourceDefinitions, document.toJS() as KubeObject);
    await client.close();
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await containerd.close();
    rmSync(folder, { recursive: true });
  });

  it('run a manager that becomes ready, and stops on SIGTERM', async () => {
    const port = await freePort();
    const manager = runImage(
      'manager',
      [kubeconfigFor(65532)],
      'manager',
      '--kubeconfig=/kubeconfig',
      `--health-probe-bind-address=127.0.0.1:${port}`,
      '--metrics-bind-address=0',
      '--leader-election-namespace=default',
    );
    await untilReady(manager, port);
    kill(manager.id, 'SIGTERM');
    assert.equal(await manager.ended, 0, manager.output());
  });

  it('run a dashboard that becomes ready', async () => {
    const port = await freePort();
    const dashboard = runImage(
      'dashboard',
      [kubeconfigFor(65531)],
      'dashboard',
      '--kubeconfig=/kubeconfig',
      '--listen=127.0.0.1:0',
      '--insecure-http',
      `--health-probe-bind-address=127.0.0.1:${port}`,
    );
    await untilReady(dashboard, port);
    kill(dashboard.id, 'SIGTERM');
    assert.equal(await dashboard.ended, 0, dashboard.output());
  });

  it('run an agent that becomes ready with the state folder of its user', async () => {
    const port = await freePort();
    const state = path.join(folder, 'state');
    mkdirSync(state, { mode: 0o700 });
    chownSync(state, 10267, 10267);
    const agent = runImage(
      'agent',
      [kubeconfigFor(10267), `src=${state},dst=/state,options=rbind:rw`],
      '--kubeconfig=/kubeconfig',
      '--node-name=node-1',
      '--state-dir=/state',
      '--listen=127.0.0.1:0',
      `--health-probe-bind-address=127.0.0.1:${port}`,
    );
    await untilReady(agent, port);
    assert.notDeepEqual(readdirSync(state), []);
    kill(agent.id, 'SIGTERM');
    assert.equal(await agent.ended, 0, agent.output());
  });
});
