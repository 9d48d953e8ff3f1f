import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from './testing/index.ts';

/** Shown as it is, the second half would come first. */
const REVERSED = 'south\u202Ehtron';

describe('dashboard --contexts', () => {
  let folder: string;
  let kubeconfig: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'edgeset-show-dashboard-'));
    kubeconfig = path.join(folder, 'config');
    const names = ['north', REVERSED];
    const config = {
      contexts: names.map((name) => ({ name, context: { cluster: name } })),
      clusters: names.map((name) => ({ name, cluster: { server: 'http://127.0.0.1:1' } })),
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [what, args, code, message] of [
    ['a context that does not exist', ['north,east'], 1, /contexts: "east" does not exist; found: north/],
    ['a name that a page would show as another one', [REVERSED], 2, /^edgeset: --contexts: .*rename-context/],
    ['a time that is none', ['north', '--request-timeout=soon'], 2, /^edgeset: --request-timeout: /],
    ['--listen', ['north', '--listen=:8443'], 2, /--contexts conflicts with --listen: give one of them/],
    ['--context', ['north', '--context=north'], 2, /--contexts conflicts with --context: give one of them/],
    ['a name twice', ['north,north'], 2, /--contexts: "north,north" is not valid: .*each once/],
    ['--namespaces', ['north', '--namespaces=shop'], 2, /--namespaces/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const environment = { KUBECONFIG: kubeconfig };
      const ran = await run(['dashboard', '--no-browser', '--contexts', ...args], { environment });
      assert.deepEqual([ran.code, ran.stdout], [code, ''], ran.stderr);
      assert.match(ran.stderr, message);
    });
});
