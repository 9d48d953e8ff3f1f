import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../../../test/support/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../../words/index.ts';
import { codes } from '../../color.ts';
import type { Ran } from '../../testing/index.ts';
import { createFakeCluster, observed, ROLLOUTS } from '../testing/fake-cluster.ts';

interface ContextList {
  apiVersion: string;
  kind: string;
  contexts: { context: string; error?: string; items: DaemonRollout[] }[];
}

/** Clears the screen, prints a row of its own, and reverses text. */
const HOSTILE = 'bad\u001b[2J\r\nFAKE   web   Complete\u202e';

const nodes: NonNullable<DaemonRolloutStatus['nodes']> = {
  eligible: 3,
  online: 3,
  offlineOutdated: 0,
  updated: 3,
  updating: 0,
  outdated: 0,
  broken: 0,
  offline: 0,
  settling: 0,
  held: 0,
  failed: 0,
  missing: 0,
};

describe('status --contexts', () => {
  const north = createFakeCluster();
  const south = createFakeCluster();
  const complete = { ...observed, summary: 'Complete', nodes };

  /** Contexts by name, with the address of their API server. */
  const kubeconfig = (servers: Readonly<Record<string, string>>): void => {
    const entries = Object.entries(servers);
    const config = {
      'current-context': 'none',
      contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: 'me', namespace: 'shop' } })),
      clusters: entries.map(([name, server]) => ({ name, cluster: { server } })),
      users: [{ name: 'me', user: { token: 'secret' } }],
    };
    writeFileSync(north.kubeconfig, JSON.stringify(config));
  };
  beforeEach(() => {
    kubeconfig({ north: north.api.url, south: south.api.url, dead: 'http://127.0.0.1:1' });
    for (const world of [north, south]) world.daemonSet();
    north.rollout(complete);
    south.rollout({ ...complete, summary: 'Rolling out' });
  });
  const status = (...args: string[]): Promise<Ran> => north.run(['status', '--contexts', ...args]);

  it('shows the rollouts of each context in the order of the flag, in one table', async () => {
    const { code, stdout, stderr } = await status('south,north');
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      [
        'CONTEXT   NAME   STATUS        TARGET   UPDATED   UPDATING   OFFLINE   FAILED   BUDGET   LEFT',
        'south     web    Rolling out   new      3/3       0          0         0        0/0',
        'north     web    Complete      new      3/3       0          0         0        0/0',
        '',
      ].join('\n'),
    );
    const wide = await status('north', '--contexts', 'south', '-A', '-o', 'wide');
    assert.match(wide.stdout, /^CONTEXT {3}NAMESPACE {3}NAME .* LAST-SEEN\nnorth {5}shop {8}web .*\nsouth {5}shop /);
  });

  it('shows a context that fails in a row, without making the columns wider, and exits with 1', async () => {
    south.api.remove(ROLLOUTS, 'web');
    south.daemonSet({ 'apps.openyurt.io/update-strategy': '' }, { annotations: {} });
    const { code, stdout, stderr } = await status('dead,nowhere,south,north');
    assert.equal(code, 1);
    const [header, ...rows] = stdout.trimEnd().split('\n');
    assert.equal(header, 'CONTEXT   NAME   STATUS     TARGET   UPDATED   UPDATING   OFFLINE   FAILED   BUDGET   LEFT');
    assert.match(rows[0] ?? '', /^dead {6}- {6}cannot reach the API server http:\/\/127\.0\.0\.1:1 .*…$/);
    assert.equal(Array.from(rows[0] ?? '').length, 'dead      -      '.length + 100);
    assert.match(rows[1] ?? '', /^nowhere {3}- {6}.*contexts: "nowhere" does not exist; found: /);
    assert.match(rows[2] ?? '', /^south {5}- {6}there are no rollouts in namespace shop: /);
    assert.match(rows[3] ?? '', /^north {5}web {4}Complete {3}/);
    assert.match(
      stderr,
      /^kubectl edgeset: 3 of 4 contexts failed:\n {2}dead: cannot reach .*: check that it is running, and that --kubeconfig .*\n {2}nowhere: .*contexts: "nowhere" does not exist; found: north, south, dead\n {2}south: there are no rollouts in namespace shop: give another namespace with -n, or -A for all\n$/,
    );
  });

  it('keeps to its own time with a context that does not answer', async () => {
    south.api.fault = () => 'hang';
    const { code, stdout } = await status('south,north', '--request-timeout', '200ms');
    assert.equal(code, 1);
    assert.match(stdout, /^south {5}- {6}the API server http:.* is not responding.*\nnorth {5}web {4}Complete /m);
  });

  it('shows what there is of the DaemonSets that are named, and hints carry the context', async () => {
    north.daemonSet({}, { name: 'db' });
    north.rollout(complete, { name: 'db' });
    const { code, stdout, stderr } = await north.run(['status', 'web', 'db', '--contexts=north,south']);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^north .* db .*\nnorth .* web .*\nsouth .* web .*\nsouth {5}- {6}there is no rollout of .* db/m,
    );
    assert.match(
      stderr,
      /1 of 2 contexts failed:\n {2}south: .*: "kubectl edgeset explain db -n shop --context south" says why\n/,
    );
    south.lease('released');
    const noted = await status('north,south');
    assert.match(noted.stderr, /^Note: south: No manager holds the Lease /m);
    assert.doesNotMatch(noted.stderr, /north/);
  });

  it('installs what is missing in the cluster that misses it', async () => {
    south.api.plurals.delete('daemonrollouts');
    const { stderr } = await status('north,south');
    assert.match(
      stderr,
      /: install it with "kubectl edgeset crds \| kubectl apply -f - --context south", and install /,
    );
  });

  it('prints a list of contexts for scripts, with the whole error of each', async () => {
    const list = JSON.parse((await status('north,dead', '-o', 'json')).stdout) as ContextList;
    assert.deepEqual([list.apiVersion, list.kind], ['v1', 'ContextList']);
    const [first, second] = list.contexts;
    assert.deepEqual([first?.context, first?.error, first?.items[0]?.metadata.name], ['north', undefined, 'web']);
    assert.equal(first?.items[0]?.metadata.managedFields, undefined);
    assert.deepEqual([second?.context, second?.items], ['dead', []]);
    assert.match(second?.error ?? '', /cannot reach .* name the right cluster$/);
    const yaml = parse((await status('north', 'web', '-o', 'yaml')).stdout) as ContextList;
    assert.deepEqual([yaml.kind, yaml.contexts[0]?.items.length], ['ContextList', 1], 'also for one name');
    assert.equal(
      (await status('south,north', '-o', 'name')).stdout,
      'south daemonrollout.edgeset.io/web\nnorth daemonrollout.edgeset.io/web\n',
    );
  });

  it('shows an error in red on a terminal', async () => {
    const { stdout } = await north.run(['status', '--contexts', 'dead'], {
      screen: () => ({ columns: 80, rows: 24 }),
    });
    assert.ok(stdout.includes(`\u001B[${codes.bad}mcannot reach the API server`), stdout);
  });

  it('asks eight clusters at once', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
    kubeconfig(Object.fromEntries(names.map((name) => [name, north.api.url])));
    north.api.fault = () => 'hang';
    const asked = (): number => north.api.requests.filter(({ path }) => path.endsWith('/apps/v1/daemonsets')).length;
    const running = status(names.join(), '-A', '--request-timeout', '2s');
    await eventually('eight are asked', () => asked() === 8);
    north.api.fault = () => undefined;
    const { stdout } = await running;
    const ended = stdout.split('\n').slice(1, -1);
    assert.deepEqual(
      ended.map((line) => [line.slice(0, 2), line.includes('not responding')]),
      names.map((name, index) => [name, index < 8]),
    );
  });

  it('lets no name and no error act on the terminal, or fake a row', async () => {
    kubeconfig({ [HOSTILE]: 'http://127.0.0.1:1', north: north.api.url });
    for (const format of [[], ['-o', 'name'], ['-o', 'json'], ['-o', 'yaml']]) {
      const { stdout, stderr } = await status(`${HOSTILE},north`, ...format);
      assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]|\p{Bidi_Control}|^FAKE/mu, format.join(' '));
    }
  });

  for (const [what, args, message] of [
    ['an empty name', ['north,'], /^kubectl edgeset: --contexts: "north," is not valid: give the names of contexts/],
    ['no name', [''], /--contexts: "" is not valid: give the names/],
    ['a name twice', ['north', '--contexts', 'south,north'], /--contexts: "south,north" is not valid: .*each once/],
    ['-w', ['north', '-w'], /--contexts conflicts with --watch: give one of them/],
    ['a file that does not exist', ['north,south', '--kubeconfig', '/none'], /^kubectl edgeset: --kubeconfig: .*\n$/],
    ['a time that is none', ['north,south', '--request-timeout', 'soon'], /^kubectl edgeset: --request-timeout: /],
    ...['context', 'cluster', 'user', 'server', 'token', 'client-key', 'tls-server-name'].map(
      (flag) =>
        [`--${flag}`, ['north', `--${flag}=x`], new RegExp(`--contexts conflicts with --${flag}: give one`)] as const,
    ),
  ] as const)
    it(`refuses ${what}`, async () => {
      const { code, stdout, stderr } = await status(...args);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, message);
    });
});
