import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { awaitingApproval } from '../../../view/testing/index.ts';
import { createFakeCluster } from '../testing/fake-cluster.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..', '..', '..', '..');

describe('completion', () => {
  const world = createFakeCluster();
  const complete = async (...words: string[]): Promise<string[]> => {
    const stdout = await world.output('__complete', ...words);
    return stdout.trimEnd().split('\n');
  };
  const values = async (...words: string[]): Promise<string[]> =>
    (await complete(...words)).map((line) => line.split('\t')[0] ?? '');

  it('offers commands with their descriptions', async () => {
    assert.deepEqual(await complete('pa'), [
      'pause\tpause the rollout: start no new updates; running ones finish',
      ':4',
    ]);
    const all = await values('');
    for (const name of ['status', 'explain', 'plan', 'wait', 'pause', 'resume', 'help', ':4'])
      assert.ok(all.includes(name));
  });

  it('offers the flags of the command', async () => {
    assert.deepEqual(await values('plan', '--ma'), ['--max-unavailable', ':4']);
    assert.ok((await values('status', '-A', '-')).includes('--watch'));
    assert.deepEqual(await values('wait', '--wat'), [':4']);
  });

  for (const [words, expected] of [
    [
      ['status', '-o', ''],
      ['wide', 'json', 'yaml', 'name'],
    ],
    [['status', '--output', 'y'], ['yaml']],
    [['status', '--output=w'], ['wide']],
    [['-n', 'shop', '--as=eve', 'status', '--output=w'], ['wide']],
    [['-n', 'shop', 'stat'], ['status']],
    [
      ['explain', '-n', 'shop', '-o', ''],
      ['json', 'yaml'],
    ],
    [['status', '--output', '=', 'j'], ['json']],
    [
      ['status', '--output', '='],
      ['wide', 'json', 'yaml', 'name'],
    ],
    [
      ['pause', '--dry-run', ''],
      ['none', 'client', 'server'],
    ],
  ] as const)
    it(`offers the values of a flag: ${words.join(' ')}`, async () => {
      assert.deepEqual(await values(...words), [...expected, ':4']);
    });

  it('offers files only for flags that name one', async () => {
    assert.deepEqual(await complete('status', '--client-key', ''), [':0']);
    assert.deepEqual(await complete('status', '--kubeconfig', ''), [':0']);
    assert.deepEqual(await complete('status', '--kubeconfig='), [':0']);
  });

  it('offers names from the kubeconfig', async () => {
    for (const flag of ['--context', '--cluster', '--user'])
      assert.deepEqual(await complete('status', flag, ''), ['test', ':4']);
    assert.deepEqual(await complete('--context=t'), ['test', ':4']);
    assert.deepEqual(await complete('status', '--kubeconfig', '/nonexistent', '--context', ''), [':4']);
  });

  it('offers contexts after those that were given', async () => {
    const entries = ['test', 'north', 'south'];
    const serverOf = (name: string): string => (name === 'test' ? world.api.url : 'http://127.0.0.1:1');
    writeFileSync(
      world.kubeconfig,
      JSON.stringify({
        'current-context': 'south',
        contexts: entries.map((name) => ({ name, context: { cluster: name, namespace: 'shop' } })),
        clusters: entries.map((name) => ({ name, cluster: { server: serverOf(name) } })),
      }),
    );
    assert.deepEqual(await complete('status', '--contexts', ''), ['test', 'north', 'south', ':4']);
    assert.deepEqual(await complete('status', '--contexts', 'north,'), ['north,test', 'north,south', ':4']);
    assert.deepEqual(await complete('status', '--contexts=north,s'), ['north,south', ':4']);
    world.daemonSet();
    world.rollout({});
    assert.deepEqual(await complete('status', '--contexts', 'test,north', ''), ['web', ':4'], 'those of the first one');
  });

  it('offers names from the cluster and the given namespace', async () => {
    world.daemonSet();
    world.api.put('/apis/apps/v1/namespaces/shop/daemonsets', {
      metadata: { name: 'not-opted-in', namespace: 'shop' },
    });
    world.rollout({});
    world.node('n1');
    world.node('m1');
    world.api.put('/api/v1/namespaces', { metadata: { name: 'shop' } });
    assert.deepEqual(await complete('explain', ''), ['web', ':4']);
    assert.deepEqual(await complete('wait', 'ds/'), ['ds/web', ':4']);
    assert.deepEqual(await complete('status', 'w'), ['web', ':4']);
    assert.deepEqual(await complete('explain', 'web', '--node', 'n'), ['n1', ':4']);
    assert.deepEqual(await complete('pause', '-n', 's'), ['shop', ':4']);
    assert.deepEqual(await complete('pause', '-n', 'other', ''), [':4']);
    assert.deepEqual(await complete('pause', '--namespace=shop', ''), ['web', ':4']);
    assert.deepEqual(await complete('pause', 'web', ''), [':4'], 'it takes one name');
    assert.deepEqual(await complete('status', 'other', ''), ['web', ':4'], 'it takes several');
    for (const command of ['pause', 'status', 'undo'])
      assert.deepEqual(await complete(command, 'daemonset', 'w'), ['web', ':4'], 'the kind is a word of its own');
    assert.deepEqual(await complete('pause', 'ads', ''), [':4']);
  });

  it('offers the stages that can still be passed, with their state', async () => {
    world.daemonSet();
    world.rollout({ plan: 'rings', stages: [...awaitingApproval] });
    for (const command of ['approve', 'promote'])
      assert.deepEqual(await complete(command, 'ds', 'web', '--stage', ''), [
        'canary\tOpen: waits for an approval',
        'fleet\tClosed',
        ':4',
      ]);
    assert.deepEqual(await complete('approve', 'web', '--stage=f'), ['fleet\tClosed', ':4']);
    assert.deepEqual(await complete('approve', '--stage', ''), [':4']);
    assert.deepEqual(await complete('undo', 'w'), ['web', ':4']);
  });

  it('offers nothing if the cluster does not respond in time', { timeout: 10_000 }, async () => {
    world.api.fault = () => 'hang';
    assert.deepEqual(await complete('explain', ''), [':4']);
    world.api.fault = () => ({ status: 403, reason: 'Forbidden' });
    assert.deepEqual(await complete('explain', ''), [':4']);
    assert.deepEqual(await complete('explain', '--kubeconfig', '/nonexistent', ''), [':4']);
    await world.api.close();
    assert.deepEqual(await complete('explain', ''), [':4']);
  });

  it('works in bash with the printed script, which splits words at colons and at signs', async () => {
    const contexts = ['arn:aws:eks:eu:1:cluster/shop', 'admin@shop'].map((name) => ({ name, context: {} }));
    writeFileSync(world.kubeconfig, JSON.stringify({ contexts }));
    const typed = {
      'edgeset pl': 'plan',
      'edgeset status -o w': 'status -o wide',
      'edgeset status --output=w': 'status --output=wide',
      'edgeset --context ar': '--context arn:aws:eks:eu:1:cluster/shop',
      'edgeset --context arn:aws:eks:': '--context arn:aws:eks:eu:1:cluster/shop',
      'edgeset --context=arn:aws:ek': '--context=arn:aws:eks:eu:1:cluster/shop',
      'edgeset --context admin@s': '--context admin@shop',
      'edgeset --context admin@': '--context admin@shop',
      'edgeset --context arn: --output=w': '--context arn: --output=wide',
    };
    // Tab, the beginning of the line, and Enter: what bash made of it is printed.
    const lines = Object.keys(typed).map((line) => `${line}\t\u0001echo \n`);
    const script = `edgeset() { "${process.execPath}" "${path.join(root, 'bin', 'edgeset.ts')}" "$@"; }
      source <(edgeset completion bash)\n`;
    const env = { KUBECONFIG: world.kubeconfig, PATH: process.env.PATH };
    const bash = run('bash', ['--norc', '-i'], { env });
    bash.child.stdin?.end(script + lines.join(''));
    const { stdout } = await bash;
    const made = stdout.split('\n').flatMap((line) => /^edgeset (.*)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(made, Object.values(typed));
  });
});
