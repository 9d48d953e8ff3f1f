import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../../test/support/index.ts';
import { createImagePulls, type ImagePulls, type ImagePullsOptions } from './image-pulls.ts';
import { createTestbed, limits, type Testbed, target } from './testing/testbed.ts';

const { signal } = new AbortController();
const v1 = target('a1', 'app:v1');
const v2 = target('b2', 'app:v2');
const none = () => Promise.resolve(undefined);

let testbed: Testbed;
let end: AbortController;
let runs: Promise<void>[];

const open = (options: Partial<ImagePullsOptions> = {}): ImagePulls => {
  const { client, env, runtime } = testbed;
  const pulls = createImagePulls({ client, env, criSocket: runtime.socket, limits, ...options });
  runs.push(pulls.run(end.signal));
  return pulls;
};
const told = (): string => {
  const { status, reason, message } = testbed.condition('PodImageReady') ?? {};
  return `${status} ${reason} ${message}`;
};
const pulledImages = () => testbed.runtime.pulls().map(({ request }) => request.message(1)?.text(1));
const success = (hash: string) =>
  eventually('the pull is reported', () => told() === `True PullImageSuccess controllerrevision: ${hash}`);
const failure = (hash: string, cause: RegExp) =>
  eventually('the failure is reported', () => {
    const text = told();
    return text.startsWith(`False PullImageFail controllerrevision: ${hash}; `) && cause.test(text);
  });
/** Pulls stay open until the testbed ends or they are cancelled. */
const holdPulls = () => testbed.runtime.answers.set('PullImage', () => 'silence');
const aPull = () => eventually('a pull is under way', () => testbed.runtime.pulls().at(-1));

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

describe('a request for images', () => {
  it('is reported on the pod while it runs and when it is done, and changes no other condition', async () => {
    const pod = testbed.createPod();
    holdPulls();
    const pulls = open();
    await pulls.request(pod, v1, signal);
    assert.equal(told(), 'False PullingImage controllerrevision: a1');
    assert.ok(testbed.condition('PodImageReady')?.lastProbeTime, 'the manager need not pull too');
    assert.deepEqual(pulls.state(pod.metadata?.uid ?? ''), { state: 'pulling', message: '' });
    const since = testbed.condition('PodImageReady')?.lastTransitionTime;
    assert.match(since ?? '', /^\d{4}-.*Z$/);
    testbed.runtime.answers.clear();
    await testbed.runtime.stop();
    await testbed.runtime.start();
    await success('a1');
    assert.equal(testbed.condition('Ready')?.status, 'True');
    await eventually('its state is known', () => pulls.state(pod.metadata?.uid ?? '')?.state === 'ready');
    const keys = testbed.link.bodies.map((body) => JSON.stringify(Object.keys(body as object)));
    assert.deepEqual(keys, ['["metadata","status"]', '["metadata","status"]']);
  });

  it('pulls every image of the template once, and existing ones only with policy Always', async () => {
    testbed.runtime.images.add('there:v1').add('always:v1');
    const spec = {
      initContainers: [{ name: 'i', image: 'init:v1' }],
      containers: [
        { name: 'a', image: 'app:v1' },
        { name: 'b', image: 'app:v1' },
        { name: 'c', image: 'there:v1', imagePullPolicy: 'IfNotPresent' },
        { name: 'd', image: 'always:v1', imagePullPolicy: 'Always' },
        { name: 'e', image: 'bare' },
      ],
    };
    await open().request(testbed.createPod(), target('a1', spec), signal);
    await success('a1');
    assert.deepEqual(pulledImages(), ['init:v1', 'app:v1', 'always:v1', 'bare:latest']);
  });

  it('made fifty times concurrently is one pull', async () => {
    const pod = testbed.createPod();
    const pulls = open();
    await Promise.all(Array.from({ length: 50 }, () => pulls.request(pod, v1, signal)));
    await success('a1');
    assert.deepEqual(pulledImages(), ['app:v1']);
    assert.equal(testbed.link.bodies.length, 2);
  });

  it('that is repeated writes nothing, and pulls only what the node has removed since', async () => {
    const pulls = open();
    await pulls.request(testbed.createPod(), v1, signal);
    await success('a1');
    const version = testbed.pod().metadata?.resourceVersion;
    await pulls.request(testbed.pod(), v1, signal);
    assert.equal(testbed.pod().metadata?.resourceVersion, version);
    testbed.runtime.images.clear();
    await eventually('the first is over', () => pulls.state(testbed.pod().metadata?.uid ?? '')?.state === 'ready');
    await pulls.request(testbed.pod(), v1, signal);
    await eventually('it was pulled again', () => pulledImages().length === 2);
    await success('a1');
  });

  it('without a container runtime is only written to the condition', async () => {
    const pod = testbed.createPod();
    const pulls = open({ criSocket: undefined });
    await pulls.request(pod, v1, signal);
    assert.equal(told(), 'False PullingImage controllerrevision: a1');
    assert.equal(pulls.state(pod.metadata?.uid ?? '')?.state, 'pulling');
    pulls.follow([testbed.pod()], () => Promise.reject(new Error('never asked')));
    assert.equal(testbed.runtime.calls.length, 0);
    assert.equal(testbed.link.bodies.length, 1);
    assert.equal(testbed.condition('PodImageReady')?.lastProbeTime ?? null, null, 'the manager is to pull');
  });

  it('that cannot be written fails, and pulls nothing', async () => {
    const pod = testbed.createPod();
    testbed.link.down = true;
    const pulls = open();
    await assert.rejects(pulls.request(pod, v1, signal), { code: 'Transport' });
    testbed.link.down = false;
    assert.equal(testbed.runtime.pulls().length, 0);
    await pulls.request(pod, v1, signal);
    await success('a1');
  });

  it('continues after its caller stopped waiting', async () => {
    const pod = testbed.createPod();
    const caller = new AbortController();
    testbed.link.hold = new Promise((resolve) => {
      testbed.link.release = resolve;
    });
    const asked = open().request(pod, v1, caller.signal);
    await eventually('it is being written', () => testbed.link.bodies.length === 1);
    caller.abort(new Error('no longer'));
    await assert.rejects(asked, /no longer/);
    testbed.link.release();
    await success('a1');
  });

  it('for another revision replaces the first one', async () => {
    holdPulls();
    const pulls = open();
    await pulls.request(testbed.createPod(), v1, signal);
    const first = await aPull();
    testbed.runtime.answers.clear();
    await pulls.request(testbed.pod(), v2, signal);
    await first.over;
    await success('b2');
    assert.deepEqual(pulledImages(), ['app:v1', 'app:v2']);
  });
});

describe('a pull that fails', () => {
  it('is retried, then reported with the cause, and starts again when requested', async () => {
    testbed.runtime.answers.set('PullImage', () => ({
      code: 2,
      text: 'GET https://r.example/blob?X-Signature=s3cret:\n503',
    }));
    const pulls = open();
    await pulls.request(testbed.createPod(), v1, signal);
    await failure('a1', /app:v1: GET https:\/\/r\.example\/blob\?\.\.\. 503$/);
    assert.equal(pulledImages().length, limits.attempts);
    testbed.runtime.answers.clear();
    await eventually('it is over', () => pulls.state(testbed.pod().metadata?.uid ?? '')?.state === 'failed');
    await pulls.request(testbed.pod(), v1, signal);
    await success('a1');
  });

  it('because the runtime restarts is retried', async () => {
    let left = 2;
    testbed.runtime.answers.set('PullImage', () => ((left -= 1) >= 0 ? 'reset' : undefined));
    await open().request(testbed.createPod(), v1, signal);
    await success('a1');
    assert.equal(pulledImages().length, 3);
  });

  it('permanently is not retried', async () => {
    testbed.runtime.answers.set('PullImage', () => ({ code: 3, text: 'invalid reference' }));
    await open().request(testbed.createPod(), v1, signal);
    await failure('a1', /invalid reference/);
    assert.equal(pulledImages().length, 1);
  });

  it('times out if the registry does not respond, with a longer timeout at each attempt', async () => {
    holdPulls();
    const patience = { ...limits, pullMs: 20, longestPullMs: 30 };
    await open({ limits: patience }).request(testbed.createPod(), v1, signal);
    await failure('a1', /app:v1 was not pulled within 0.03 s: the registry is not responding/);
    const waits = testbed.runtime.pulls().map(({ headers }) => headers['grpc-timeout']);
    assert.deepEqual(waits, ['20m', '30m', '30m']);
    await Promise.all(testbed.runtime.pulls().map(({ over }) => over));
  });

  it('does not start without enough disk space', async () => {
    await open({ limits: { ...limits, disk: { bytes: 0, share: 2 } } }).request(testbed.createPod(), v1, signal);
    await failure('a1', /MiB are free on the disk that holds the images/);
    assert.equal(pulledImages().length, 0);
  });

  it('may be forbidden by the template', async () => {
    const spec = { containers: [{ name: 'a', image: 'app:v1', imagePullPolicy: 'Never' }] };
    await open().request(testbed.createPod(), target('a1', spec), signal);
    await failure('a1', /app:v1 is not on the node, and its imagePullPolicy is Never/);
    assert.equal(pulledImages().length, 0);
  });

  it('without a runtime reports the flag and the fix', async () => {
    await open({ criSocket: '/no/such.sock' }).request(testbed.createPod(), v1, signal);
    await failure('a1', /--cri-socket \/no\/such\.sock: no such socket; give the container runtime's socket/);
    assert.ok(testbed.lines.some((line) => line.includes('the container runtime is unavailable: cannot pull images')));
  });
});

describe('pull secrets', () => {
  const image = 'r.example/team/app:v1';
  const loginsTried = () => testbed.runtime.pulls().map(({ request }) => request.message(2)?.text(1));
  const wrongLogin = { code: 16, text: 'unauthorized' };

  it('of the template are tried, the most specific first, and sent to their own registry only', async () => {
    testbed.addSecret('mine', { 'r.example': 'wide:1', 'r.example/team': 'exact:2', 'other.example': 'foreign:3' });
    testbed.runtime.answers.set('PullImage', (request) =>
      request.message(2)?.text(1) === 'exact' ? wrongLogin : undefined,
    );
    const spec = {
      imagePullSecrets: [{ name: 'mine' }],
      containers: [
        { name: 'a', image },
        { name: 'b', image: 'public.example/x:v1' },
      ],
    };
    await open().request(testbed.createPod(), target('a1', spec), signal);
    await success('a1');
    assert.deepEqual(loginsTried(), ['exact', 'wide', undefined]);
  });

  it('of the service account are used if the template names none', async () => {
    testbed.addSecret('mine', { 'r.example': 'mine:1' });
    testbed.addSecret('theirs', { 'r.example': 'theirs:1' });
    testbed.addServiceAccount('runner', 'theirs');
    const spec = { serviceAccountName: 'runner', containers: [{ name: 'a', image }] };
    const pulls = open();
    await pulls.request(testbed.createPod(), target('a1', spec), signal);
    await success('a1');
    testbed.runtime.images.clear();
    await pulls.request(testbed.pod(), target('b2', { ...spec, imagePullSecrets: [{ name: 'mine' }] }), signal);
    await success('b2');
    assert.deepEqual(loginsTried(), ['theirs', 'mine']);
  });

  it('that cannot be read are named, and do not block a public image', async () => {
    testbed.link.refused.add('secrets');
    const spec = { imagePullSecrets: [{ name: 'mine' }], containers: [{ name: 'a', image }] };
    const pulls = open();
    await pulls.request(testbed.createPod(), target('a1', spec), signal);
    await success('a1');
    testbed.runtime.images.clear();
    testbed.runtime.answers.set('PullImage', () => wrongLogin);
    await pulls.request(testbed.pod(), target('b2', spec), signal);
    await failure('b2', /unauthorized; pull secret edge\/mine cannot be read: the agent is not allowed to$/);
    assert.deepEqual(new Set(loginsTried()), new Set([undefined]));
  });

  it('appear in no log and no condition', async () => {
    testbed.addSecret('mine', { 'r.example': 'me:s3cret' });
    testbed.runtime.answers.set('PullImage', () => wrongLogin);
    const spec = { imagePullSecrets: [{ name: 'mine' }], containers: [{ name: 'a', image }] };
    await open().request(testbed.createPod(), target('a1', spec), signal);
    await failure('a1', /unauthorized/);
    assert.doesNotMatch([...testbed.lines, JSON.stringify(testbed.pod())].join('\n'), /s3cret|bWU6czNjcmV0/);
  });
});

describe('during a pull', () => {
  it('the link is lost: the result is reported after the reconnect', async () => {
    let answer: (() => void) | undefined;
    testbed.runtime.answers.set('PullImage', () => (stream) => {
      answer = () => {
        stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '0' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.alloc(5));
      };
    });
    await open().request(testbed.createPod(), v1, signal);
    const go = await eventually('the pull is under way', () => answer);
    testbed.link.down = true;
    const before = testbed.link.calls.length;
    go();
    await eventually('it was tried to tell it', () => testbed.link.calls.length > before + 3);
    testbed.link.down = false;
    await success('a1');
  });

  it('the link is lost and the pull fails: it is repeated after the reconnect', async () => {
    testbed.runtime.answers.set('PullImage', () =>
      testbed.link.down ? { code: 14, text: 'no route to host' } : undefined,
    );
    const pulls = open();
    testbed.runtime.answers.set('ImageStatus', () => {
      testbed.link.down = true;
      testbed.runtime.answers.delete('ImageStatus');
      return undefined;
    });
    await pulls.request(testbed.createPod(), v1, signal);
    await eventually('all attempts failed, and the API server was missed', () =>
      testbed.link.calls.includes('get pods'),
    );
    assert.equal(pulledImages().length, limits.attempts);
    testbed.link.down = false;
    await success('a1');
    assert.ok(!JSON.stringify(testbed.link.bodies).includes('PullImageFail'));
  });

  it('the pod is deleted: the pull is cancelled', async () => {
    holdPulls();
    const pulls = open();
    const pod = testbed.createPod();
    await pulls.request(pod, v1, signal);
    const pull = await aPull();
    pulls.follow([], none);
    pulls.follow([testbed.pod()], none);
    pulls.follow([], none);
    await pull.over;
    await eventually('nothing is known of it', () => {
      pulls.follow([], none);
      return pulls.state(pod.metadata?.uid ?? '') === undefined;
    });
  });

  it('another pod gets its name: nothing is reported on it', async () => {
    testbed.runtime.answers.set('PullImage', () => {
      testbed.deletePod();
      testbed.createPod();
      return undefined;
    });
    await open().request(testbed.createPod(), v1, signal);
    await eventually('the result was to be told', () => testbed.link.calls.includes('get pods'));
    end.abort(new Error('the test is over'));
    await Promise.all(runs);
    assert.equal(testbed.condition('PodImageReady'), undefined);
    assert.equal(testbed.link.bodies.length, 1);
  });

  it('another revision is announced: the pull is cancelled, but not because of an older version of the pod', async () => {
    holdPulls();
    const pulls = open();
    const old = testbed.createPod();
    testbed.announce('a1');
    await pulls.request(testbed.pod(), v1, signal);
    const pull = await aPull();
    pulls.follow([{ ...old, status: testbed.announce('b2').status ?? {} }], none);
    let over = false;
    void pull.over.then(() => (over = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(over, false);
    pulls.follow([testbed.pod()], none);
    await pull.over;
  });

  it('the agent stops: the pull is cancelled, and the next agent resumes it', async () => {
    holdPulls();
    const first = open();
    testbed.createPod();
    await first.request(testbed.announce('a1'), v1, signal);
    const pull = await aPull();
    end.abort(new Error('stop'));
    await Promise.all(runs);
    await pull.over;
    assert.equal(told(), 'False PullingImage controllerrevision: a1');

    end = new AbortController();
    testbed.runtime.answers.clear();
    const second = open();
    const stale = testbed.pod();
    const asked: string[] = [];
    const find = (_pod: Pod, hash: string) => Promise.resolve(asked.push(hash) > 1 ? v1 : undefined);
    second.follow([stale], find);
    await eventually('the template was asked for in vain', () => asked.length === 1);
    await eventually('it was taken up', () => {
      second.follow([stale], find);
      return pulledImages().length === 2;
    });
    await success('a1');
    const writes = testbed.link.bodies.length;
    await eventually('it is over', () => second.state(stale.metadata?.uid ?? '')?.state === 'ready');
    second.follow([stale], find);
    second.follow([testbed.pod()], find);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(testbed.link.bodies.length, writes, 'a view from before the end begins nothing');
    assert.equal(pulledImages().length, 2);
  });
});
