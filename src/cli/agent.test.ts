import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../test/support/index.ts';
import { type Edgeset, startEdgeset } from './testing/process.ts';

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-agent-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** A cluster that doesn't respond: port 9 is for discard, and closed. */
const kubeconfig = (folder: string): string => {
  const file = path.join(folder, 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'away', cluster: { server: 'https://127.0.0.1:9' } }],
    users: [{ name: 'agent', user: { tokenFile: path.join(folder, 'token') } }],
    contexts: [{ name: 'away', context: { cluster: 'away', user: 'agent' } }],
    'current-context': 'away',
  };
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(path.join(folder, 'token'), 'token');
  return file;
};

const start = (t: TestContext, ...args: string[]): Edgeset => {
  const folder = folderOf(t);
  const agent = startEdgeset([
    'agent',
    `--kubeconfig=${kubeconfig(folder)}`,
    '--node-name=node-1',
    '--listen=127.0.0.1:0',
    `--state-dir=${path.join(folder, 'state')}`,
    `--allow-user=${process.getuid?.() ?? 0}`,
    '--time-zone=UTC',
    ...args,
  ]);
  t.after(() => agent.child.kill('SIGKILL'));
  return agent;
};

const address = async (agent: Edgeset, msg = 'serving the API'): Promise<string> => {
  const line = await eventually(`${msg}\n${agent.stderr()}`, () => agent.log().find((each) => each.msg === msg));
  return `http://${String(line.address)}`;
};

test('without an API server, the agent serves its API, is not ready, and stops on SIGTERM', async (t) => {
  const agent = start(t, '--health-probe-bind-address=127.0.0.1:0', '--metrics-bind-address=127.0.0.1:0');
  const url = await address(agent);
  const pods = await fetch(`${url}/pods`);
  assert.equal(pods.status, 200);
  assert.deepEqual(((await pods.json()) as { items: unknown[] }).items, []);
  const upgrade = await fetch(`${url}/openyurt.io/v1/namespaces/a/pods/b/upgrade`, { method: 'POST' });
  assert.equal(upgrade.status, 503);
  assert.match(await upgrade.text(), /OTA upgrade is not allowed when node is disconnected to cloud/);
  const probes = await address(agent, 'serving health probes');
  assert.equal((await fetch(`${probes}/healthz`)).status, 200);
  const ready = await fetch(`${probes}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /never connected to the API server/);
  const metrics = await (await fetch(`${await address(agent, 'serving metrics')}/metrics`)).text();
  assert.match(metrics, /^edgeset_agent_connected 0$/m);
  agent.child.kill('SIGTERM');
  assert.equal(await agent.ended, 0, agent.stderr());
  assert.equal(agent.stdout(), '');
});

test('an open event stream does not delay the stop', async (t) => {
  const agent = start(t);
  const stream = await fetch(`${await address(agent)}/edgeset.io/v1/events`);
  agent.child.kill('SIGTERM');
  assert.match(await stream.text(), /^event: state$/m);
  assert.equal(await agent.ended, 0);
});

for (const [what, args, remedy] of [
  ['an address for everybody', ['--listen=:0'], /--listen: .*give --tls-cert-file/],
  [
    'a kubeconfig that is not there',
    ['--kubeconfig=/nonexistent'],
    /^edgeset: --kubeconfig: "\/nonexistent" does not exist: give /m,
  ],
  ['a token file that is not there', ['--token-file=/nonexistent'], /--token-file: cannot read/],
  [
    'a certificate that is not there',
    ['--tls-cert-file=/nonexistent', '--tls-private-key-file=/nonexistent'],
    /--tls-cert-file: cannot read/,
  ],
  ['a Unix socket in no folder', ['--unix-socket=/nonexistent/agent.sock'], /--unix-socket: cannot listen/],
] as const)
  test(`${what} exits with 2 and names the flag`, async (t) => {
    const agent = start(t, ...args);
    assert.equal(await agent.ended, 2, agent.stderr());
    assert.match(agent.stderr(), remedy);
  });

test('an address in use exits with 1', async (t) => {
  const first = start(t);
  const taken = (await address(first)).slice('http://'.length);
  const second = start(t, `--listen=${taken}`);
  assert.equal(await second.ended, 1);
  assert.match(second.stderr(), /CannotListen/);
});
