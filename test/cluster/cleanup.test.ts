import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { eventually } from '../support/index.ts';
import { kubectl } from './index.ts';

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Programs whose command line or log files lie in `dir`. */
const programsOf = (dir: string): string[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir);
      } catch {
        return false;
      }
    });

/** Runs `up.ts` until it says where its kubeconfig is; the rest of what it says is read and dropped. */
const up = async (...nodes: string[]) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'up.ts'), ...nodes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error('up.ts ended before it was up')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /export KUBECONFIG=(.+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
  });
  return { child, ended, kubeconfig: said, dir: dirname(said) };
};

describe('a cluster brought up by hand', {
  concurrency: 2,
  skip: process.platform !== 'linux' && 'reads /proc',
}, () => {
  it('takes nodes offline by annotation, and leaves nothing behind after SIGINT', async () => {
    const { child, ended, kubeconfig, dir } = await up('edge-1', 'edge-2');
    const status = (): Promise<string> => kubectl(kubeconfig, ['get', 'node', 'edge-2', '--no-headers']);
    assert.match(await status(), / Ready /);
    await kubectl(kubeconfig, ['annotate', 'node', 'edge-2', 'edgeset.io/sim=offline']);
    await eventually('kubectl shows it', async () => (await status()).includes('NotReady'), {
      everyMs: 200,
    });
    await kubectl(kubeconfig, ['annotate', 'node', 'edge-2', 'edgeset.io/sim-']);
    await eventually('kubectl shows it again', async () => !(await status()).includes('NotReady'), {
      everyMs: 200,
    });
    assert.ok(programsOf(dir).length >= 6);
    child.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.deepEqual(programsOf(dir), []);
    assert.equal(existsSync(dir), false);
  });

  it('leaves nothing behind when its process is killed', async () => {
    const { child, ended, dir } = await up('edge-1');
    assert.ok(programsOf(dir).length >= 6);
    child.kill('SIGKILL');
    await ended;
    await eventually('every program has ended', async () => Promise.resolve(programsOf(dir).length === 0), {
      everyMs: 50,
    });
    await eventually('the folder is gone', async () => Promise.resolve(!existsSync(dir)), {
      everyMs: 50,
    });
  });
});
