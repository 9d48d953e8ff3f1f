import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../../../../test/support/index.ts';
import { terminal } from '../../testing/terminal.ts';
import { createFakeCluster, observed } from '../testing/fake-cluster.ts';

// `script` of util-linux runs a command on a pseudo terminal; that of macOS has other flags.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
const plugin = path.join(import.meta.dirname, '..', '..', '..', '..', 'bin', 'kubectl-edgeset.ts');

describe('get -w on a pseudo terminal', { skip: hasScript ? false : 'needs script of util-linux' }, () => {
  const world = createFakeCluster();

  it('draws, follows a resize, ends on Ctrl-C and restores the cursor', async () => {
    world.daemonSet();
    world.fleet(...Array.from({ length: 60 }, (_, index) => `n${index}`));
    world.rollout(observed);
    const ttyFile = path.join(path.dirname(world.kubeconfig), 'tty');
    const command = `trap : INT; stty rows 30 cols 100; tty >'${ttyFile}'; '${process.execPath}' '${plugin}' get web -w; echo "exit $?"`;
    const { CI: _, NO_COLOR: __, ...inherited } = process.env;
    const env = { ...inherited, KUBECONFIG: world.kubeconfig, TERM: 'xterm', LC_ALL: 'C.UTF-8', SHELL: '/bin/sh' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const tty = terminal(100, 30);
    child.stdout.setEncoding('utf8').on('data', (text: string) => tty.write(text));
    const shown = (): string => tty.lines().join('\n');
    const until = (what: string, text: RegExp) => eventually(what, () => text.test(shown()));
    try {
      await until('the picture', /outdated +60[^]*0 of 60 online nodes/);
      assert.equal(tty.isRestored(), false);
      execFileSync('stty', ['-F', readFileSync(ttyFile, 'utf8').trim(), 'rows', '16', 'cols', '50']);
      // The legend moves below the nodes.
      await until('the smaller picture', /updated +0 +↑ +updating/);
      assert.ok(tty.lines().length < 16);
      world.pod('n1', 'new');
      await until('the change', /1 of 60 online nodes/);
      child.stdin.write('\u0003');
      await until('the end', /exit 0/);
      assert.equal(tty.isRestored(), true);
      assert.match(shown(), /1 of 60 online nodes/, 'the last picture stays');
      assert.doesNotMatch(shown(), /\^C[^\n]/);
    } finally {
      child.kill();
    }
  });
});
