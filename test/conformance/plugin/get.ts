import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Case, section } from '../kit/index.ts';
import { edgeset, succeeds } from './run.ts';

/** Runs `get -w` as its own process: Ctrl-C in this one would interrupt the cases beside it, too. */
const follow = async (c: Case, name: string) => {
  const program = path.join(await c.cluster.plugin.folder(), 'kubectl-edgeset');
  const args = ['get', name, '-w', '--kubeconfig', c.cluster.kubeconfig, '-n', c.namespace];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    /** The last line of each node, in words. */
    rows: (): Map<string, string> =>
      new Map(
        text
          .split('\n')
          .slice(1, -1)
          .map((line) => [line.split(' ')[0] ?? '', line.split(/ +/).join(' ')]),
      ),
    text: () => text,
    interrupt(): Promise<number | null> {
      child.kill('SIGINT');
      return ended;
    },
  };
};

const listed = async (c: Case, name: string): Promise<string[]> =>
  succeeds(await edgeset(c, 'get', name))[0]
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(/ +/).join(' '));

/** Resolves once the lines that were followed end with what is listed now. */
const untilSame = (c: Case, name: string, followed: Awaited<ReturnType<typeof follow>>): Promise<unknown> =>
  c.until('get -w shows what get lists', async () => {
    const now = await listed(c, name);
    return now.join('\n') === [...followed.rows().values()].toSorted().join('\n');
  });

/**
 * What `get -w` has written to a terminal once it shows the node. `script` runs a command on a pseudo terminal; that of macOS is told so in
 * another way.
 */
const onTerminal = async (c: Case, variables: Readonly<Record<string, string>>): Promise<string> => {
  const program = path.join(await c.cluster.plugin.folder(), 'kubectl-edgeset');
  const { CI: _, NO_COLOR: __, ...inherited } = process.env;
  const env = { ...inherited, TERM: 'xterm', LC_ALL: 'C.UTF-8', SHELL: '/bin/sh', ...variables };
  const get = `exec '${program}' get app -w --kubeconfig '${c.cluster.kubeconfig}' -n ${c.namespace}`;
  const command = `stty rows 30 cols 100; ${get}`;
  const args =
    process.platform === 'darwin' ? ['-q', '/dev/null', '/bin/sh', '-c', command] : ['-qec', command, '/dev/null'];
  const child = spawn('script', args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  // It may have ended by then.
  child.stdin.on('error', () => undefined);
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (written += more));
  try {
    await c.until('get -w shows the node', () => /updated[^\n]*\n/.test(written));
    return written;
  } finally {
    child.stdin.write('\u0003');
    await ended;
  }
};

export const following = section('get', (rule) => {
  rule(
    '-w draws on a terminal, and appends lines there if CI or NO_COLOR is set',
    async (c) => {
      await c.rolledOut();
      const [drawn = '', inCi = '', plain = ''] = await Promise.all(
        [{}, { CI: 'true' }, { NO_COLOR: '1' }].map((variables) => onTerminal(c, variables)),
      );
      assert.ok(drawn.includes('\u001B['), drawn);
      const [first = '', ...colored] = inCi.split('\u001B[');
      assert.ok(
        colored.every((piece) => /^[\d;]*m/.test(piece)),
        'colors, and nothing that moves the cursor',
      );
      const bare = first + colored.map((piece) => piece.slice(piece.indexOf('m') + 1)).join('');
      assert.ok(!plain.includes('\u001B'), plain);
      for (const lines of [bare, plain]) assert.match(lines, new RegExp(`^NODE [^]*^${c.nodes[0]} +updated `, 'm'));
    },
    { nodes: 1 },
  );

  rule(
    '-w shows each change of a rollout, and at any time what a fresh list shows',
    async (c) => {
      const [away = ''] = c.nodes;
      await c.rolledOut();
      const followed = await follow(c, 'ds/app');
      try {
        await untilSame(c, 'app', followed);
        await c.cluster.offline([away]);
        await c.setImage('app:v2');
        await c.untilCondition('Complete');
        await untilSame(c, 'app', followed);
        assert.match(followed.text(), / updating +/);
        assert.match(followed.rows().get(away) ?? '', / offline offline-outdated /);
        await c.setImage('app:v3--crash-loop');
        await c.untilCondition('Halted');
        await untilSame(c, 'app', followed);
        assert.match([...followed.rows().values()].join('\n'), / failed crash-loop /);
        await c.cluster.online([away]);
        await c.setImage('app:v4');
        await c.untilRunning('app:v4', c.nodes);
        await untilSame(c, 'app', followed);
        assert.equal(await followed.interrupt(), 0);
      } finally {
        await followed.interrupt();
      }
    },
    { nodes: 3 },
  );
});

export const followingAdvanced = section(
  'get, of Advanced DaemonSets',
  (rule) => {
    rule(
      '-w follows updates in place and a partition',
      async (c) => {
        await c.rolledOut({ rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', partition: 1 } });
        const followed = await follow(c, 'ads/app');
        try {
          await untilSame(c, 'ads/app', followed);
          await c.setImage('app:v2');
          await c.untilRunning('app:v2', c.nodes.slice(1));
          await untilSame(c, 'ads/app', followed);
          assert.match([...followed.rows().values()].join('\n'), / held partition /);
          assert.equal(await followed.interrupt(), 0);
        } finally {
          await followed.interrupt();
        }
      },
      { nodes: 3 },
    );
  },
  { kind: 'advanced' },
);
