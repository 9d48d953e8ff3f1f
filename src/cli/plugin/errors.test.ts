import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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

describe('what keeps a command from its answer is one sentence on stderr, with its cure', () => {
  const world = createFakeCluster();
  const told = async (args: readonly string[], what: RegExp, cure: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await world.run(args);
    assert.deepEqual([code, stdout], [1, ''], `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, /^kubectl edgeset: [^\n]+\n$/);
    assert.match(stderr, what);
    assert.match(stderr, cure);
    assert.doesNotMatch(stderr, /\/apis\/|\bat .*\.ts/, 'no paths of requests, no stack');
  };

  it('a cluster that is not there', { timeout: 60_000 }, async () => {
    const { url } = world.api;
    await world.api.close();
    for (const args of commands)
      await told(
        args,
        new RegExp(`cannot reach the API server ${url} \\(.*ECONNREFUSED`),
        /--kubeconfig and --context/,
      );
  });

  it('a context that is not there', async () => {
    for (const args of commands)
      await told([...args, '--context', 'prod'], /contexts: has no "prod"/, /there are: test/);
  });

  it('a kubeconfig that is not there', async () => {
    for (const args of [...commands, ['history', 'web'], ['undo', 'web']])
      assert.deepEqual(await world.run([...args, '--kubeconfig', '/nonexistent/config']), {
        code: 2,
        stdout: '',
        stderr:
          'kubectl edgeset: --kubeconfig: "/nonexistent/config" does not exist: give the path of a file, or leave the flag out\n',
      });
  });

  it('credentials that are refused', async () => {
    world.api.fault = () => ({ status: 401, reason: 'Unauthorized' });
    for (const args of commands) await told(args, /does not accept the credentials of context test/, /log in again/);
  });

  it('a right that is missing', async () => {
    const message = 'things.apps is forbidden: User "u" cannot get resource "things"';
    world.api.fault = () => ({ status: 403, reason: 'Forbidden', message });
    for (const args of commands) await told(args, /: things\.apps is forbidden: User "u" cannot/, /ask whoever runs/);
  });

  it('definitions that are not installed', async () => {
    world.api.fault = (_, path) => (path === ROLLOUTS ? { status: 404, reason: 'NotFound' } : undefined);
    for (const args of commands.slice(0, 2))
      await told(args, /does not know DaemonRollouts/, /"kubectl edgeset crds \| kubectl apply -f -"/);
  });

  it('a DaemonSet that is not there', async () => {
    for (const args of commands.slice(2)) await told(args, /there is no DaemonSet shop\/web/, /-n/);
    await told(['status', 'web'], /there is no rollout of a DaemonSet web in namespace shop/, /explain web/);
  });

  it('a DaemonSet that did not opt in, and one that is going', async () => {
    const strategy = 'apps.openyurt.io/update-strategy';
    world.daemonSet({}, { annotations: {} });
    for (const args of commands.slice(2)) await told(args, /shop\/web did not opt in/, new RegExp(`${strategy}=auto`));
    world.daemonSet({}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    for (const args of commands.slice(2, 5))
      await told(args, /shop\/web is being deleted/, /nothing is rolled out|will not end/);
  });
});

describe('slips of the command line end with 2', () => {
  const world = createFakeCluster();
  for (const [args, words] of [
    [['explain', 'deploy/web'], /"deploy\/web": names no DaemonSet: give ds\/NAME or NAME/],
    [['status', 'Web'], /"Web": names no DaemonSet/],
    [['explain'], /missing required argument 'daemonset'/],
    [['status', '-o', 'xml'], /'xml' is invalid. Allowed choices are wide, json, yaml, name/],
    [['explain', 'web', '-o', 'wide'], /'wide' is invalid. Allowed choices are json, yaml/],
    [['wait', 'web', '--timeout', 'soon'], /--timeout: "soon" is not a duration: give seconds/],
    [['pause', 'web', '--dry-run=later'], /'later' is invalid. Give --dry-run=client or --dry-run=server/],
    [['manager'], /unknown command 'manager'/],
  ] as const)
    it(args.join(' '), async () => {
      const { code, stdout, stderr } = await world.run(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, words);
      assert.deepEqual(world.api.requests, [], 'nothing was asked of the cluster');
    });
});
