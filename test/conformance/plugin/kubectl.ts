import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { type Case, section } from '../kit/index.ts';
import { edgeset } from './run.ts';

const run = promisify(execFile);

const environmentOf = async (c: Case): Promise<NodeJS.ProcessEnv> => ({
  ...process.env,
  PATH: `${await c.cluster.plugin.folder()}${delimiter}${process.env.PATH}`,
  KUBECONFIG: c.cluster.kubeconfig,
});

/** What kubectl offers is this: nothing where the cluster does not answer in time, so it is asked until it does. */
const completes = async (c: Case, words: readonly string[], expected: readonly string[]): Promise<void> => {
  const wanted = [...expected, ':4'].toSorted();
  let last: string[] = [];
  await c
    .until(`"${words.join(' ')}" is completed`, async () => {
      const { stdout } = await run('kubectl', ['__complete', 'edgeset', ...words], { env: await environmentOf(c) });
      last = stdout.trim().split('\n').toSorted();
      return isDeepStrictEqual(last, wanted);
    })
    .catch(() => assert.deepEqual(last, wanted));
};

export const kubectl = section('kubectl plugin', (rule) => {
  rule(
    'kubectl finds it, and completes its commands and the names in the cluster',
    async (c) => {
      await c.rolledOut();
      const env = await environmentOf(c);
      const { stdout } = await run('kubectl', ['edgeset', 'status', '-n', c.namespace], { env });
      assert.match(stdout, /^NAME +STATUS +TARGET .*\napp +Complete +\w+ +1\/1 /);
      await completes(c, ['explain', '-n', c.namespace, ''], ['app']);
      await completes(c, ['wait', '-n', c.namespace, 'ds/'], ['ds/app']);
      await completes(c, ['explain', 'app', '-n', c.namespace, '--node', c.namespace], c.nodes);
    },
    { nodes: 1 },
  );

  rule(
    'Advanced DaemonSets are completed with their kind, and served by the same commands',
    async (c) => {
      const podLabels = { kind: 'advanced' };
      await c.rolledOut({ podLabels, spec: { selector: { matchLabels: { app: 'app', ...podLabels } } } });
      const native = { name: 'app', podLabels: { kind: 'native' }, podSpec: { nodeSelector: { no: 'node' } } };
      for (const shape of [native, { name: 'other' }]) await c.create(shape, 'native');
      const env = await environmentOf(c);
      const where = ['-n', c.namespace];
      await completes(c, ['explain', ...where, ''], ['ads/app', 'ds/app', 'other']);
      await completes(c, ['explain', ...where, 'ads/'], ['ads/app']);
      await completes(c, ['pause', ...where, 'daemonset.apps.kruise.io/'], ['daemonset.apps.kruise.io/app']);
      await completes(c, ['undo', 'ads/app', ...where, '--to-revision', ''], ['1\tapp:v1']);
      const said = async (...words: string[]): Promise<string> =>
        (await run('kubectl', ['edgeset', ...words, ...where], { env })).stdout;
      assert.match(await said('status'), /^ads\/app +Complete /m);
      assert.equal(await said('pause', 'ads/app'), 'daemonset.apps.kruise.io/app paused\n');
      assert.equal(await said('resume', 'daemon/app'), 'daemonset.apps.kruise.io/app unpaused\n');
      assert.match(await said('wait', 'ads/app', '--timeout', '90s'), /^1 of 1 online nodes run app-/);
      assert.match(await said('history', 'ads/app'), /^1 +\w+ +\w+ +1 +present, last complete +app:v1$/m);
    },
    { kind: 'advanced', nodes: 1 },
  );

  rule(
    'flags may stand before the command, and texts of the cluster fake neither rows nor output',
    async (c) => {
      const hostile = 'good\u001B[2J\u009B1A\r\n9  fake  0s  9  present  app:fake';
      await c.rolledOut({ annotations: { 'kubernetes.io/change-cause': hostile } });
      const env = await environmentOf(c);
      const said = async (...words: string[]): Promise<string> =>
        (await run('kubectl', ['edgeset', ...words], { env })).stdout;
      const table = await said('-n', c.namespace, 'history', 'app');
      assert.match(table, /^1 .* app:v1 +good\\u001b\[2J\\u009b1A\\r\\n9 {2}fake/m);
      const [revisions = ''] = table.split('\n\n');
      assert.equal(revisions.split('\n').length, 2);
      const data = JSON.parse(await said('-o=json', '-n', c.namespace, 'history', 'app')) as {
        revisions: { changeCause: string }[];
      };
      assert.equal(data.revisions[0]?.changeCause, hostile);
      const paused = await said('pause', `--namespace=${c.namespace}`, 'app', '-o', 'yaml', '--dry-run=server');
      assert.match(paused, /^ {4}edgeset\.io\/paused: "true"$/m);
      assert.equal((await c.daemonSet()).metadata?.annotations?.['edgeset.io/paused'], undefined);
    },
    { nodes: 1 },
  );

  rule(
    'the plugin prints the definitions, which the API server accepts',
    async (c) => {
      const { stdout } = await c.cluster.plugin.run(['crds', '--controllers', 'native']);
      assert.match(stdout, /name: rolloutplans\.edgeset\.io/);
      assert.doesNotMatch(stdout, /daemonsets\.apps\.kruise\.io/);
      const all = await c.cluster.plugin.run(['crds']);
      await c.kubectl(['apply', '--dry-run=server', '-f', '-'], all.stdout);
      assert.match(all.stdout, /daemonsets\.apps\.kruise\.io/);
    },
    { nodes: 1, manager: 'none' },
  );

  rule('status -w appends each change without a terminal, and ends on SIGINT', async (c) => {
    await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
    const program = join(await c.cluster.plugin.folder(), 'kubectl-edgeset');
    const child = spawn(program, ['status', '-w', '-n', c.namespace], {
      env: await environmentOf(c),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      await c.until('the first row', () => /^app +Complete/m.test(stdout));
      await c.setImage('app:v2');
      await c.until('it rolls out', () => /^app +Rolling out/m.test(stdout));
      await c.until('it is complete', () => /Rolling out[^]*^app +Complete/m.test(stdout));
      child.kill('SIGINT');
      assert.equal(await ended, 0);
      assert.equal(stderr, '');
      const lines = stdout.trimEnd().split('\n');
      assert.equal(lines.filter((line) => line.startsWith('NAME')).length, 1);
      assert.deepEqual(
        lines.filter((line, index) => line === lines[index - 1]),
        [],
        'no row says the same as the one before',
      );
    } finally {
      child.kill('SIGKILL');
    }
  });
});

/** Where the API server checks rights. */
export const rights = section('kubectl plugin', (rule) => {
  rule(
    'a missing permission is reported in one sentence',
    async (c) => {
      await c.rolledOut();
      for (const args of [
        ['status'],
        ['explain', 'app'],
        ['plan', 'app'],
        ['wait', 'app'],
        ['pause', 'app'],
        ['history', 'app'],
        ['undo', 'app'],
        ['explain', 'ads/app'],
        ['pause', 'ads/app'],
      ]) {
        const { code, stdout, stderr } = await edgeset(c, ...args, '--as', 'nobody');
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(
          stderr,
          /^kubectl edgeset: .* is forbidden: User "nobody" cannot .*: ask your cluster administrator/,
        );
      }
      const asAdmin = ['--as', 'nobody', '--as-group', 'others', '--as-group', 'system:masters', '--as-uid', '7'];
      assert.equal((await edgeset(c, 'pause', 'app', ...asAdmin)).stdout, 'daemonset.apps/app paused\n');
      const anonymous = await edgeset(c, 'status', '--token', 'wrong');
      assert.match(anonymous.stderr, /^kubectl edgeset: the API server rejected the credentials/);
    },
    { nodes: 1 },
  );
});
