import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { type Env, silentLogger, sleep, systemClock } from '../../runtime/index.ts';
import { createSafeCheck } from './safe-check.ts';

const env: Env = { clock: systemClock, random: () => 0.5, log: silentLogger };
const base = mkdtempSync(path.join(tmpdir(), 'edgeset-device-'));
after(() => rmSync(base, { recursive: true, force: true }));

const never = new AbortController().signal;
const about = { namespace: 'shop', daemonSet: 'till', revision: 'r2' };

let files = 0;
const script = (body: string, mode = 0o755): string => {
  files += 1;
  const file = path.join(base, `check-${files}`);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, mode);
  return file;
};

const ask = (check: string, timeoutMs = 5000): Promise<{ safe: boolean; message: string }> =>
  createSafeCheck({ check, env, timeoutMs }).ask(never, about);

const isAlive = (pid: number): boolean => {
  try {
    // A killed process is listed until its parent has waited for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('safe check without a check', () => {
  it('is always safe', async () => {
    const check = createSafeCheck({ check: undefined, env });
    assert.equal(check.configured, false);
    assert.equal(check.last.safe, null);
    assert.equal((await check.ask(never)).safe, true);
  });
});

describe('safe check by an executable', () => {
  it('is safe only with exit status 0, and returns the first line of output', async () => {
    assert.deepEqual(await ask(script('echo; echo parked; echo more')), { safe: true, message: 'parked' });
    assert.deepEqual(await ask(script('echo "driving at 80"; exit 1')), { safe: false, message: 'driving at 80' });
    assert.deepEqual(await ask(script('exit 0')), { safe: true, message: 'Exit status 0.' });
    assert.deepEqual(await ask(script('exit 7')), { safe: false, message: 'Exit status 7.' });
    assert.deepEqual(await ask(script('kill -9 $$')), { safe: false, message: 'Killed by SIGKILL.' });
  });

  it('keeps the last answer', async () => {
    const check = createSafeCheck({ check: script('echo no; exit 1'), env });
    assert.deepEqual(check.last, { safe: null, message: 'Not checked yet.' });
    await check.ask(never);
    assert.deepEqual(check.last, { safe: false, message: 'no' });
  });

  it("passes the update's names, but not the environment of this process", async () => {
    const file = path.join(base, 'environment');
    process.env.EDGESET_TEST_SECRET = 'hush';
    await ask(script(`env > ${file}; pwd >> ${file}`));
    const lines = readFileSync(file, 'utf8').split('\n');
    assert.ok(!readFileSync(file, 'utf8').includes('hush'));
    for (const line of ['EDGESET_NAMESPACE=shop', 'EDGESET_DAEMONSET=till', 'EDGESET_REVISION=r2', '/'])
      assert.ok(lines.includes(line), line);
    const names = lines.map((line) => line.split('=')[0]);
    assert.deepEqual(
      names.filter(
        (name) => !/^(EDGESET_(NAMESPACE|DAEMONSET|REVISION)|PATH|PWD|OLDPWD|SHLVL|_|\/|)$/.test(name ?? ''),
      ),
      [],
    );
  });

  it('is not safe after a timeout, and kills the process group', async () => {
    const pids = path.join(base, 'pids');
    const answer = await ask(script(`sleep 60 & echo $! $$ > ${pids}; echo safe; sleep 60`), 300);
    assert.deepEqual(answer, { safe: false, message: 'The check did not answer within 0.3 s.' });
    await eventually('pids written', () => existsSync(pids));
    for (const pid of readFileSync(pids, 'utf8').trim().split(' ').map(Number))
      await eventually(`process ${pid} ended`, () => !isAlive(pid));
  });

  it('does not wait for processes that the check left behind', async () => {
    const start = systemClock.now();
    assert.deepEqual(await ask(script('echo parked; sleep 60 &')), { safe: true, message: 'parked' });
    assert.ok(systemClock.now() - start < 4000);
  });

  it('reads a limited part of the output', async () => {
    const answer = await ask(script('head -c 300000 /dev/zero | tr "\\0" x; exit 0'));
    assert.deepEqual(answer, { safe: true, message: 'x'.repeat(200) });
    assert.equal((await ask(script("printf '\\033[31mred\\007\\n'"))).message, '[31mred');
    assert.equal((await ask(script('yes'), 300)).safe, false);
  });

  it('stops with the agent', async () => {
    const stop = new AbortController();
    const asked = createSafeCheck({ check: script('sleep 60'), env }).ask(stop.signal);
    await sleep(systemClock, 0);
    stop.abort();
    assert.deepEqual(await asked, { safe: false, message: 'The agent is stopping.' });
  });

  it('is refused at start if it cannot work, or if other users could replace it', () => {
    const loose = script('exit 0', 0o777);
    const foreign = script('exit 0');
    if (process.geteuid?.() === 0) chownSync(foreign, 65534, 65534);
    const open = path.join(base, 'open');
    mkdirSync(open);
    writeFileSync(path.join(open, 'check'), '#!/bin/sh\n', { mode: 0o755 });
    chmodSync(open, 0o777);
    const link = path.join(base, 'link');
    symlinkSync(loose, link);
    const refused: [string, RegExp][] = [
      ['check.sh', /absolute path or an http\(s\) URL/],
      [path.join(base, 'missing'), /cannot be read \(ENOENT\): check the path/],
      [base, /is not a file/],
      [script('exit 0', 0o644), /is not executable: run chmod \+x/],
      [loose, /writable by other users/],
      [link, /writable by other users/],
      [path.join(open, 'check'), /can be replaced by other users: chown .*open/],
      ...(process.geteuid?.() === 0 ? ([[foreign, /writable by other users/]] as [string, RegExp][]) : []),
    ];
    for (const [check, message] of refused)
      assert.throws(() => createSafeCheck({ check, env }), { code: 'InvalidOption', flag: '--safe-check', message });
  });

  it('is not safe once the file was removed or made writable by others', async () => {
    const file = script('exit 0');
    const check = createSafeCheck({ check: file, env });
    assert.equal((await check.ask(never)).safe, true);
    chmodSync(file, 0o777);
    assert.match((await check.ask(never)).message, /writable by other users/);
    rmSync(file);
    assert.deepEqual((await check.ask(never)).safe, false);
    writeFileSync(file, '#!/no/such/interpreter\n', { mode: 0o755 });
    assert.deepEqual(await check.ask(never), { safe: false, message: 'The check cannot be run (ENOENT).' });
  });
});

describe('safe check by a URL', () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  const serve = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/parked?unit=7`;
  };
  const status = (code: number, body: string): Promise<string> =>
    serve((_, response) => response.writeHead(code, { location: '/elsewhere' }).end(body));

  it('is safe only with a 2xx status, and returns the first line of the body', async () => {
    assert.deepEqual(await ask(await status(200, 'parked\nmore')), { safe: true, message: 'parked' });
    assert.deepEqual(await ask(await status(204, '')), { safe: true, message: 'HTTP status 204.' });
    assert.deepEqual(await ask(await status(409, 'driving')), { safe: false, message: 'driving' });
    assert.deepEqual(await ask(await status(500, '')), { safe: false, message: 'HTTP status 500.' });
  });

  it('follows no redirects', async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      if (request.url?.startsWith('/elsewhere')) response.end('safe');
      else response.writeHead(302, { location: '/elsewhere' }).end();
    });
    assert.deepEqual(await ask(url), { safe: false, message: 'HTTP status 302.' });
    assert.equal(asked, 1);
  });

  it("passes the update's names", async () => {
    let seen = '';
    const url = await serve((request, response) => {
      seen = `${request.method} ${request.url}`;
      response.end();
    });
    await ask(url);
    assert.equal(seen, 'GET /parked?unit=7&namespace=shop&daemonSet=till&revision=r2');
  });

  it('is not safe if nothing listens, after a timeout, or if the response is cut off', async () => {
    assert.deepEqual(await ask('http://127.0.0.1:1/'), {
      safe: false,
      message: 'The check is unreachable (ECONNREFUSED).',
    });
    assert.equal((await ask(await serve(() => undefined), 200)).message, 'The check did not answer within 0.2 s.');
    const drips = await serve((_, response) => response.writeHead(200).write('par'));
    assert.equal((await ask(drips, 200)).safe, false);
    const cut = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('par', () => response.destroy());
    });
    assert.deepEqual(await ask(cut), { safe: false, message: 'The response of the check was cut off.' });
  });

  it('reads a limited part of the body', async () => {
    const url = await serve((_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        response.once('drain', write);
      };
      write();
    });
    assert.deepEqual(await ask(url), { safe: true, message: 'x'.repeat(200) });
  });

  it('stops with the agent', async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort());
    assert.deepEqual(await createSafeCheck({ check: url, env }).ask(stop.signal), {
      safe: false,
      message: 'The agent is stopping.',
    });
  });

  it('is refused at start without TLS to another machine, or with a password', () => {
    for (const [check, message] of [
      ['http://gateway/parked', /must use https/],
      ['http://127.0.0.1.example.com/', /must use https/],
      ['http://10.0.0.1/', /must use https/],
      ['https://user:secret@gateway/', /password/],
      ['http://', /not a URL/],
      ['ftp://127.0.0.1/', /absolute path/],
    ] as const)
      assert.throws(() => createSafeCheck({ check, env }), { code: 'InvalidOption', message });
    for (const check of ['https://gateway/parked', 'http://localhost:1', 'http://[::1]:1', 'HTTP://127.9.9.9'])
      assert.equal(createSafeCheck({ check, env }).configured, true);
  });
});
