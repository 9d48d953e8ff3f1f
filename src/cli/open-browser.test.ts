import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../test/support/index.ts';
import { openAddress, serveFleet } from '../dashboard/testing/index.ts';
import { openBrowser } from './open-browser.ts';

const ELSEWHERE = process.platform === 'win32' && 'needs a shell script as a browser';

/** Serves a dashboard, and opens it in a browser that only runs on. Resolves with what the browser was given. */
const open = async (t: TestContext) => {
  const home = mkdtempSync(path.join(tmpdir(), 'edgeset-home-'));
  // As many home folders are: only what is in it protects the file.
  chmodSync(home, 0o755);
  const said = path.join(home, 'said');
  const BROWSER = path.join(home, 'browser');
  writeFileSync(
    BROWSER,
    `#!/bin/sh\necho $$ "$@" > ${said}.new && mv ${said}.new ${said}\nwhile :; do sleep 1; done\n`,
    { mode: 0o755 },
  );
  const { HOME } = process.env;
  process.env.HOME = home;
  const server = await serveFleet({ rows: [], rollout: undefined });
  const newAddress: Parameters<typeof openBrowser>[0]['newAddress'] = (code) =>
    `${server.origin}/#code=${server.gate.newCode(code)}`;
  openBrowser({ port: server.port, newAddress }, { BROWSER });
  const [pid = '', url = ''] = (
    await eventually('the browser runs', async () => existsSync(said) && readFileSync(said, 'utf8'))
  )
    .trim()
    .split(' ');
  t.after(async () => {
    process.kill(-Number(pid), 'SIGKILL');
    process.env.HOME = HOME;
    server.gate.close();
    await server.close();
    rmSync(home, { recursive: true });
  });
  const folders = (): string[] => readdirSync(home).filter((name) => name.startsWith('edgeset-'));
  return { server, pid, file: fileURLToPath(url), folders };
};

test('the browser opens a file of the user alone, which is gone once it was used', { skip: ELSEWHERE }, async (t) => {
  const { server, file, folders } = await open(t);
  assert.match(path.basename(path.dirname(file)), new RegExp(`^edgeset-dashboard-${server.port}-`));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  const [, address = ''] = /url=([^"]+)"/.exec(readFileSync(file, 'utf8')) ?? [];
  assert.equal(folders().length, 1);
  await openAddress(address);
  assert.deepEqual(folders(), []);
  await assert.rejects(openAddress(address), /403/);
});

test('the file goes with the dashboard', { skip: ELSEWHERE }, async (t) => {
  const { server, folders } = await open(t);
  server.gate.close();
  assert.deepEqual(folders(), []);
});

const asNobody = (...command: readonly string[]) =>
  spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...command], { encoding: 'utf8' });
const NOT_ROOT = process.getuid?.() !== 0 && 'only root can act as another user';
const NO_SETPRIV = asNobody('true').status !== 0 && 'needs setpriv of util-linux';

test('another user finds nothing of use in the list of processes', { skip: NOT_ROOT || NO_SETPRIV }, async (t) => {
  const { server, pid, file } = await open(t);
  const { stdout } = asNobody('ps', '-ww', '-o', 'args=', '-p', pid);
  assert.ok(stdout.includes(file), `the other user sees the command line: ${stdout}`);
  assert.doesNotMatch(stdout, /code=|key=/);
  for (const each of [file, path.dirname(file)]) {
    const { status, stderr } = asNobody('cat', each);
    assert.deepEqual([status, /denied/.test(stderr)], [1, true], stderr);
  }
  const all = execFileSync('ps', ['-ww', '-eo', 'args='], { encoding: 'utf8' });
  assert.ok(!all.includes(`:${server.port}/#code`), 'no address of this dashboard is in any command line');
});
