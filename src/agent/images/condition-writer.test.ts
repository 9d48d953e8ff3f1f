import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { KubeError } from '../../kube/index.ts';
import { createImagePulls, type ImagePulls } from './image-pulls.ts';
import { createTestbed, limits, type Testbed, target } from './testing/testbed.ts';

const { signal } = new AbortController();
const v1 = target('a1', 'app:v1');

let testbed: Testbed;
let end: AbortController;
let runs: Promise<void>[];

const open = (): ImagePulls => {
  const { client, env, runtime } = testbed;
  const pulls = createImagePulls({ client, env, criSocket: runtime.socket, limits });
  runs.push(pulls.run(end.signal));
  return pulls;
};
const told = (): string => {
  const { status, reason, message } = testbed.condition('PodImageReady') ?? {};
  return `${status} ${reason} ${message}`;
};
const calls = (what: string): number => testbed.link.calls.filter((call) => call === what).length;
const lines = (text: string): number => testbed.lines.filter((line) => line.includes(text)).length;
const stateOf = (pulls: ImagePulls) => pulls.state(testbed.pod().metadata?.uid ?? '');

/** A finished pull, with the API server's response to its report from then on. */
const pulledUnder = async (pulls: ImagePulls, verb: 'get' | 'patch', error: KubeError): Promise<void> => {
  testbed.createPod();
  testbed.runtime.answers.set('PullImage', () => 'silence');
  await pulls.request(testbed.announce('a1'), v1, signal);
  await eventually('a pull is under way', () => testbed.runtime.pulls().at(-1));
  testbed.link.errors.set(`${verb} pods`, error);
  testbed.runtime.answers.clear();
  await testbed.runtime.stop();
  await testbed.runtime.start();
};

beforeEach(async () => {
  testbed = await createTestbed();
  end = new AbortController();
  runs = [];
});
afterEach(async () => {
  end.abort(new Error('the test is over'));
  await Promise.all(runs);
  await testbed.close();
});

describe('a report that the API server refuses', () => {
  for (const [verb, code, status, tries] of [
    ['patch', 'Forbidden', 403, 6],
    ['get', 'Forbidden', 403, 6],
    ['patch', 'Invalid', 422, 1],
    ['patch', 'BadRequest', 400, 1],
  ] as const)
    it(`permanently is abandoned after ${tries} attempts, logged once, and not resumed until requested again (${verb} ${status})`, async () => {
      const pulls = open();
      await pulledUnder(pulls, verb, new KubeError(code, 'a policy is against it', { status }));
      const state = await eventually('it is left', () => stateOf(pulls)?.state === 'failed' && stateOf(pulls));
      assert.match(state.message, /rejects the report: a policy is against it/);
      const before = calls(`${verb} pods`);
      assert.equal(before - (verb === 'patch' ? 1 : 0), tries);
      for (let times = 0; times < 3; times += 1) pulls.follow([testbed.pod()], () => Promise.resolve(v1));
      assert.equal(lines('giving up on reporting an image pull'), 1);
      assert.equal(calls(`${verb} pods`), before);
      assert.equal(testbed.runtime.pulls().length, 2);

      testbed.link.errors.clear();
      await pulls.request(testbed.pod(), v1, signal);
      await eventually('it is reported', () => told() === 'True PullImageSuccess controllerrevision: a1');
      await eventually('its state is known', () => stateOf(pulls)?.state === 'ready');
    });

  for (const error of [
    new KubeError('TooManyRequests', 'slow down', { status: 429 }),
    new KubeError('InternalError', 'etcd is away', { status: 500 }),
    new KubeError('Unauthorized', 'the token is being renewed', { status: 401 }),
  ])
    it(`temporarily is retried until it succeeds (${error.status})`, async () => {
      const pulls = open();
      await pulledUnder(pulls, 'patch', error);
      await eventually('many tries', () => calls('patch pods') > 15);
      assert.equal(stateOf(pulls)?.state, 'pulling');
      assert.ok(lines('WARN') <= 2, testbed.lines.join('\n'));
      testbed.link.errors.clear();
      await eventually('it is reported', () => told() === 'True PullImageSuccess controllerrevision: a1');
    });
});

describe('a pull that a previous agent started', () => {
  const begun = async (): Promise<void> => {
    testbed.createPod();
    testbed.announce('a1');
    const condition = {
      type: 'PodImageReady',
      status: 'False',
      reason: 'PullingImage',
      message: 'controllerrevision: a1',
    };
    await testbed.client.patch(
      { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
      { namespace: 'edge', name: 'app' },
      { status: { conditions: [condition] } },
      { type: 'strategic', subresource: 'status' },
    );
  };

  it('is resumed once its template can be read, without a change of the pod', async () => {
    await begun();
    const pulls = open();
    let asked = 0;
    pulls.follow([testbed.pod()], () => {
      asked += 1;
      if (asked < 4) throw new KubeError('Transport', 'the link broke', { happened: 'no' });
      return Promise.resolve(v1);
    });
    await eventually('it is reported', () => told() === 'True PullImageSuccess controllerrevision: a1');
    assert.equal(asked, 4);
  });

  it('is abandoned if its template is permanently refused', async () => {
    await begun();
    const pulls = open();
    let asked = 0;
    const targetOf = () => {
      asked += 1;
      return Promise.reject(new KubeError('Forbidden', 'not for you', { status: 403 }));
    };
    pulls.follow([testbed.pod()], targetOf);
    const state = await eventually('it is left', () => stateOf(pulls)?.state === 'failed' && stateOf(pulls));
    assert.match(state.message, /cannot resume the pull: not for you/);
    for (let times = 0; times < 3; times += 1) pulls.follow([testbed.pod()], targetOf);
    assert.equal(asked, 6);
    assert.equal(lines('giving up on resuming an image pull'), 1);
  });
});
