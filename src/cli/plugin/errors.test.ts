import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestAuthority, startTestServer } from '../../../test/support/index.ts';
import { createFakeCluster, ROLLOUTS } from './testing/fake-cluster.ts';

const commands = [
  ['status'],
  ['status', '-w'],
  ['explain', 'web'],
  ['plan', 'web'],
  ['wait', 'web'],
  ['pause', 'web'],
  ['resume', 'web'],
] as const;

describe('an error is one sentence on stderr that says what to do', () => {
  const world = createFakeCluster();
  const run = async (args: readonly string[], what: RegExp, remedy: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await world.run(args);
    assert.deepEqual([code, stdout], [1, ''], `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, /^kubectl edgeset: [^\n]+\n$/);
    assert.match(stderr, what);
    assert.match(stderr, remedy);
    assert.doesNotMatch(stderr, /\/apis\/|\bat .*\.ts/, 'no paths of requests, no stack');
  };

  it('an unreachable cluster', { timeout: 60_000 }, async () => {
    const { url } = world.api;
    await world.api.close();
    for (const args of commands)
      await run(args, new RegExp(`cannot reach the API server ${url} \\(.*ECONNREFUSED`), /--kubeconfig and --context/);
  });

  it('a certificate that nobody vouches for', async (t) => {
    const identity = createTestAuthority().issue('127.0.0.1');
    const server = await startTestServer({ protocol: 'h2', identity }, () => assert.fail('nobody connects'));
    t.after(() => server.close());
    const { code, stderr } = await world.run(['status', '--server', server.url]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /: the certificate of the API server https:.* is not trusted \([^;]*\): check its certificate-auth/,
    );
  });

  it('a missing context', async () => {
    for (const args of commands)
      await run([...args, '--context', 'prod'], /contexts: "prod" does not exist/, /found: test/);
  });

  it('a missing kubeconfig', async () => {
    for (const args of [...commands, ['history', 'web'], ['undo', 'web']])
      assert.deepEqual(await world.run([...args, '--kubeconfig', '/nonexistent/config']), {
        code: 2,
        stdout: '',
        stderr:
          'kubectl edgeset: --kubeconfig: "/nonexistent/config" does not exist: give the path of a file, or leave the flag out\n',
      });
  });

  it('rejected credentials', async () => {
    world.api.fault = () => ({ status: 401, reason: 'Unauthorized' });
    for (const args of commands) await run(args, /rejected the credentials of context test/, /log in again/);
  });

  it('a missing permission', async () => {
    const message = 'things.apps is forbidden: User "u" cannot get resource "things"';
    world.api.fault = () => ({ status: 403, reason: 'Forbidden', message });
    for (const args of commands)
      await run(args, /: things\.apps is forbidden: User "u" cannot/, /ask your cluster administrator/);
  });

  it('a missing CRD', async () => {
    world.api.fault = (_, path) => (path === ROLLOUTS ? { status: 404, reason: 'NotFound' } : undefined);
    for (const args of commands.slice(0, 2))
      await run(args, /has no CRD for DaemonRollouts/, /"kubectl edgeset crds \| kubectl apply -f -"/);
  });

  it('a missing DaemonSet', async () => {
    for (const args of commands.slice(2)) await run(args, /there is no DaemonSet shop\/web/, /-n/);
    await run(['status', 'web'], /there is no rollout of a DaemonSet web in namespace shop/, /explain web/);
  });

  it('a DaemonSet that is not managed or is being deleted', async () => {
    const strategy = 'apps.openyurt.io/update-strategy';
    world.daemonSet({}, { annotations: {} });
    for (const args of commands.slice(2)) await run(args, /shop\/web did not opt in/, new RegExp(`${strategy}=auto`));
    world.daemonSet({}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    for (const args of commands.slice(2, 5))
      await run(args, /shop\/web is being deleted/, /nothing is rolled out|will not complete/);
  });
});

describe('a usage error exits with 2', () => {
  const world = createFakeCluster();
  for (const [args, words] of [
    [['explain', 'deploy/web'], /"deploy\/web": is not the name of a DaemonSet: give NAME or ds\/NAME/],
    [['status', 'Web'], /"Web": is not the name of a DaemonSet/],
    [['explain'], /^kubectl edgeset: the argument <daemonset> is missing: run "kubectl edgeset explain --help"\n$/],
    [['status', '-o', 'xml'], /^kubectl edgeset: --output: "xml" is not valid: give wide, json, yaml or name\n$/],
    [['explain', 'web', '-o', 'wide'], /--output: "wide" is not valid: give json or yaml\n$/],
    [['wait', 'web', '--timeout', 'soon'], /--timeout: "soon" is not a duration: give seconds/],
    [
      ['pause', 'web', '--dry-run=later'],
      /^kubectl edgeset: --dry-run: "later" is not valid: give --dry-run=client or --dry-run=server, or put --dry-run last\n$/,
    ],
    [['status', '--as-group', 'a'], /^kubectl edgeset: --as-group: requires --as/],
    [['--request-timeout', 'soon', 'status'], /^kubectl edgeset: --request-timeout: "soon" is not a duration/],
    [['manager'], /^kubectl edgeset: unknown command "manager": run "kubectl edgeset --help"\n$/],
  ] as const)
    it(args.join(' '), async () => {
      const { code, stdout, stderr } = await world.run(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, words);
      assert.deepEqual(world.api.requests, [], 'nothing was asked of the cluster');
    });
});
