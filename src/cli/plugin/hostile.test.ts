import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { structured } from '../../view/index.ts';
import { stage } from '../../view/testing/index.ts';
import { withoutColors } from '../color.ts';
import { createIo } from '../io.ts';
import { createFakeCluster, observed, PODS, REVISIONS } from './testing/fake-cluster.ts';

/** Clears the screen in two ways, reverses text, and prints its own row. */
const HOSTILE = 'bad\u001b[2J\u009b31m\u202e\u2028\u0007\r\nFAKE   Complete   9/9\u001b]0;title\u0007';
const ACTS = /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

interface Stored {
  metadata: object;
  status: object;
}

describe('texts of the cluster', () => {
  const world = createFakeCluster();

  const change = (collection: string, name: string, edit: (object: Stored) => object): void => {
    const object = JSON.parse(world.api.text(`${collection}/${name}`)) as Stored;
    world.api.put(collection, { ...object, ...edit(object) });
  };

  /** A cluster in which every text that a user or a program can write freely is hostile. */
  const plant = (): void => {
    world.daemonSet({
      'kubernetes.io/change-cause': HOSTILE,
      'apps.openyurt.io/max-unavailable': HOSTILE,
      'edgeset.io/paused': HOSTILE,
      'edgeset.io/resume': HOSTILE,
      'argocd.argoproj.io/tracking-id': HOSTILE,
    });
    world.fleet('n1', 'n2', 'n3');
    const template = (image: string) => ({
      metadata: { labels: { app: 'web' }, annotations: { [HOSTILE]: HOSTILE } },
      spec: { containers: [{ name: 'web', image, args: [HOSTILE] }] },
    });
    for (const number of [1, 2]) {
      const name = number === 1 ? 'old' : 'new';
      change(REVISIONS, `web-${name}`, ({ metadata }) => ({
        metadata: { ...metadata, annotations: { 'kubernetes.io/change-cause': HOSTILE } },
        data: { spec: { template: template(`web:${number}${HOSTILE}`) } },
      }));
    }
    for (const node of ['n1', 'n2']) {
      const terminated = { exitCode: 1, reason: HOSTILE, message: HOSTILE };
      const waiting = { reason: 'CrashLoopBackOff', message: HOSTILE };
      const container = { name: 'web', ready: false, restartCount: 9, state: { waiting }, lastState: { terminated } };
      world.pod(node, 'new', false);
      change(PODS, `web-${node}`, ({ status }) => ({ status: { ...status, containerStatuses: [container] } }));
    }
    const condition = (type: string, is: string) => ({
      type,
      status: is,
      reason: HOSTILE,
      message: HOSTILE,
      lastTransitionTime: '2020-01-01T00:00:00Z',
    });
    world.rollout({
      ...observed,
      summary: HOSTILE,
      target: { revision: HOSTILE, hash: HOSTILE, number: 2 },
      budget: { maxUnavailable: HOSTILE, maxSurge: HOSTILE, nodes: 1, inUse: 0, inFlight: 0 },
      failing: [{ node: HOSTILE, cause: HOSTILE, message: HOSTILE, since: '2020-01-01T00:00:00Z' }],
      conditions: [condition('Complete', 'False'), condition('Ready', 'False'), condition('Stalled', 'True')],
      plan: HOSTILE,
      stages: [
        stage('lab', 'Open', {
          awaits: { reason: 'Approval', message: HOSTILE },
          checks: [{ name: HOSTILE, state: 'NoResult', failures: 0, message: HOSTILE }],
        }),
        stage(HOSTILE, 'Passed', { promotion: 'ByHand', promotedAt: HOSTILE, promotedBy: HOSTILE }),
      ],
    });
    world.api.plurals.add('rolloutapprovals').add('selfsubjectreviews');
  };

  const check = (what: string, text: string): void => {
    assert.doesNotMatch(text, ACTS, what);
    assert.doesNotMatch(text, /^FAKE/m, what);
  };

  for (const args of [
    ['status'],
    ['status', 'web', '-o', 'wide'],
    ['status', '-o', 'name'],
    ['get', 'web', '-o', 'wide'],
    ['get', 'web', '-o', 'name'],
    ['explain', 'web', '--all'],
    ['explain', 'web', '--node', 'n1'],
    ['plan', 'web'],
    ['wait', 'web', '--timeout', '1s'],
    ['pause', 'web'],
    ['resume', 'web', '--dry-run=client'],
    ['history', 'web'],
    ['history', 'web', '-o', 'wide'],
    ['history', 'web', '--revision', '1'],
    ['undo', 'web', '--dry-run=client'],
    ['undo', 'web', '--to-revision', '7'],
    ['approve', 'web'],
    ['approve', 'web', '--stage', 'none'],
    ['promote', 'web', '--dry-run'],
    ['__complete', 'approve', 'web', '--stage', ''],
    ['__complete', 'undo', 'web', '--to-revision', ''],
  ])
    it(`are escaped by ${args.join(' ')}`, async () => {
      plant();
      const { stdout, stderr } = await world.run(args);
      assert.ok(stdout.length + stderr.length > 0);
      check('stdout', stdout);
      check('stderr', stderr);
    });

  for (const args of [
    ['status'],
    ['status', 'web'],
    ['explain', 'web'],
    ['plan', 'web'],
    ['get', 'web'],
    ['history', 'web', '--revision', '1'],
  ])
    for (const format of ['json', 'yaml'] as const)
      it(`are escaped and kept by ${args.join(' ')} -o ${format}`, async () => {
        plant();
        const text = await world.output(...args, '-o', format);
        check('stdout', text);
        const data: unknown = format === 'json' ? JSON.parse(text) : parseAllDocuments(text)[0]?.toJS();
        const texts: string[] = [];
        JSON.stringify(data, (_, value: unknown) => (typeof value === 'string' ? texts.push(value) : value));
        if (args[0] !== 'plan') assert.ok(texts.some((one) => one.includes(HOSTILE)));
      });

  for (const status of [403, 422, 500] as const)
    it(`are escaped in an error of the API server (${status})`, async () => {
      plant();
      world.api.fault = () => ({ status, reason: '', message: HOSTILE });
      for (const args of [
        ['status'],
        ['explain', 'web'],
        ['pause', 'web'],
        ['undo', 'web'],
        ['wait', 'web', '--timeout', '1s'],
      ]) {
        const { code, stdout, stderr } = await world.run(args);
        assert.deepEqual([code, stdout], [1, ''], args.join(' '));
        check(args.join(' '), stderr);
        assert.match(stderr, /^kubectl edgeset: .*bad\\u001b\[2J/);
      }
    });

  it('are escaped between the colors of a terminal', async () => {
    plant();
    const screen = () => ({ columns: 200, rows: 50 });
    for (const command of ['status', 'get', 'explain', 'plan', 'history']) {
      const { stdout } = await world.run([command, ...(command === 'status' ? [] : ['web'])], { screen });
      assert.notEqual(withoutColors(stdout), stdout, command);
      assert.doesNotMatch(withoutColors(stdout), ACTS, command);
    }
  });

  it('can be the DaemonSet of an error', async () => {
    world.daemonSet();
    world.rollout({ summary: HOSTILE });
    check('status', await world.output('status'));
  });
});

describe('data', () => {
  it('is kept by its escapes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (data) => {
        // Neither format can have half a surrogate pair, and __proto__ is not a key.
        const wanted = JSON.parse(JSON.stringify(data).toWellFormed()) as object;
        const [json, yaml] = [structured(wanted, 'json'), structured(wanted, 'yaml')];
        for (const text of [json, yaml]) assert.doesNotMatch(text, ACTS);
        assert.deepEqual(JSON.parse(json), wanted);
        assert.deepEqual(parseAllDocuments(yaml)[0]?.toJS(), wanted);
      }),
    );
    assert.equal(structured({ a: 'x\u202ey' }, 'yaml'), String.raw`a: "x\u202ey"` + '\n');
  });
});

describe('what a command prints', () => {
  const printed: string[] = [];
  const write = (text: string): void => void printed.push(text);
  const io = createIo(
    { stdout: write, stderr: write, terminal: false, environment: {}, random: () => 0 },
    (words) => `npx edgeset ${words}`,
  );

  it('never acts on the terminal, even if the command forgets to escape it', () => {
    for (const print of [io.stdout, io.stderr]) print(HOSTILE);
    for (const text of printed) assert.doesNotMatch(text, ACTS);
  });
});
