import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../../test/support/index.ts';
import { createImagePulls, type ImagePulls, type ImagePullsOptions } from './image-pulls.ts';
import { createWorld, limits, target, type World } from './testing/world.ts';

const { signal } = new AbortController();
const v1 = target('a1', 'app:v1');
const v2 = target('b2', 'app:v2');
const none = () => Promise.resolve(undefined);

let world: World;
let end: AbortController;
let runs: Promise<void>[];

const open = (options: Partial<ImagePullsOptions> = {}): ImagePulls => {
  const { client, env, runtime } = world;
  const pulls = createImagePulls({ client, env, criSocket: runtime.socket, limits, ...options });
  runs.push(pulls.run(end.signal));
  return pulls;
};
const told = (): string => {
  const { status, reason, message } = world.condition('PodImageReady') ?? {};
  return `${status} ${reason} ${message}`;
};
const pulledImages = () => world.runtime.pulls().map(({ request }) => request.message(1)?.text(1));
const success = (hash: string) =>
  eventually('the pull is reported', () => told() === `True PullImageSuccess controllerrevision: ${hash}`);
const failure = (hash: string, cause: RegExp) =>
  eventually('the failure is reported', () => {
    const text = told();
    return text.startsWith(`False PullImageFail controllerrevision: ${hash}; `) && cause.test(text);
  });
/** Pulls stay open until the world ends or they are cancelled. */
const holdPulls = () => world.runtime.answers.set('PullImage', () => 'silence');
const aPull = () => eventually('a pull is under way', () => world.runtime.pulls().at(-1));

beforeEach(async () => {
  world = await createWorld();
  end = new AbortController();
  runs = [];
});
afterEach(async () => {
  end.abort(new Error('the test is over'));
  await Promise.all(runs);
  await world.close();
});

describe('a request for images', () => {
  it('is told on the pod while it lasts and when it is done, and touches no other condition', async () => {
    const pod = world.createPod();
    holdPulls();
    const pulls = open();
    await pulls.request(pod, v1, signal);
    assert.equal(told(), 'False PullingImage controllerrevision: a1');
    assert.ok(world.condition('PodImageReady')?.lastProbeTime, 'the manager need not pull too');
    assert.deepEqual(pulls.state(pod.metadata?.uid ?? ''), { state: 'pulling', message: '' });
    const since = world.condition('PodImageReady')?.lastTransitionTime;
    assert.match(since ?? '', /^\d{4}-.*Z$/);
    world.runtime.answers.clear();
    await world.runtime.stop();
    await world.runtime.start();
    await success('a1');
    assert.equal(world.condition('Ready')?.status, 'True');
    await eventually('its state is known', () => pulls.state(pod.metadata?.uid ?? '')?.state === 'ready');
    const keys = world.link.bodies.map((body) => JSON.stringify(Object.keys(body as object)));
    assert.deepEqual(keys, ['["metadata","status"]', '["metadata","status"]']);
  });

  it('pulls every image of the template once, and none that is there, but Always', async () => {
    world.runtime.images.add('there:v1').add('always:v1');
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
    await open().request(world.createPod(), target('a1', spec), signal);
    await success('a1');
    assert.deepEqual(pulledImages(), ['init:v1', 'app:v1', 'always:v1', 'bare:latest']);
  });

  it('made fifty times at once is one pull', async () => {
    const pod = world.createPod();
    const pulls = open();
    await Promise.all(Array.from({ length: 50 }, () => pulls.request(pod, v1, signal)));
    await success('a1');
    assert.deepEqual(pulledImages(), ['app:v1']);
    assert.equal(world.link.bodies.length, 2);
  });

  it('again, when it was done, writes nothing, and pulls only what the node has removed since', async () => {
    const pulls = open();
    await pulls.request(world.createPod(), v1, signal);
    await success('a1');
    const version = world.pod().metadata?.resourceVersion;
    await pulls.request(world.pod(), v1, signal);
    assert.equal(world.pod().metadata?.resourceVersion, version);
    world.runtime.images.clear();
    await eventually('the first is over', () => pulls.state(world.pod().metadata?.uid ?? '')?.state === 'ready');
    await pulls.request(world.pod(), v1, signal);
    await eventually('it was pulled again', () => pulledImages().length === 2);
    await success('a1');
  });

  it('without a container runtime is only written down', async () => {
    const pod = world.createPod();
    const pulls = open({ criSocket: undefined });
    await pulls.request(pod, v1, signal);
    assert.equal(told(), 'False PullingImage controllerrevision: a1');
    assert.equal(pulls.state(pod.metadata?.uid ?? '')?.state, 'pulling');
    pulls.follow([world.pod()], () => Promise.reject(new Error('never asked')));
    assert.equal(world.runtime.calls.length, 0);
    assert.equal(world.link.bodies.length, 1);
    assert.equal(world.condition('PodImageReady')?.lastProbeTime ?? null, null, 'the manager is to pull');
  });

  it('that cannot be written is refused, and pulls nothing', async () => {
    const pod = world.createPod();
    world.link.down = true;
    const pulls = open();
    await assert.rejects(pulls.request(pod, v1, signal), { code: 'Transport' });
    world.link.down = false;
    assert.equal(world.runtime.pulls().length, 0);
    await pulls.request(pod, v1, signal);
    await success('a1');
  });

  it('whose caller does not wait longer goes on', async () => {
    const pod = world.createPod();
    const caller = new AbortController();
    world.link.hold = new Promise((resolve) => {
      world.link.release = resolve;
    });
    const asked = open().request(pod, v1, caller.signal);
    await eventually('it is being written', () => world.link.bodies.length === 1);
    caller.abort(new Error('no longer'));
    await assert.rejects(asked, /no longer/);
    world.link.release();
    await success('a1');
  });

  it('for another revision takes the place of the first', async () => {
    holdPulls();
    const pulls = open();
    await pulls.request(world.createPod(), v1, signal);
    const first = await aPull();
    world.runtime.answers.clear();
    await pulls.request(world.pod(), v2, signal);
    await first.over;
    await success('b2');
    assert.deepEqual(pulledImages(), ['app:v1', 'app:v2']);
  });
});

describe('a pull that fails', () => {
  it('is tried again, then told with the cause, and begins anew when asked', async () => {
    world.runtime.answers.set('PullImage', () => ({
      code: 2,
      text: 'GET https://r.example/blob?X-Signature=s3cret:\n503',
    }));
    const pulls = open();
    await pulls.request(world.createPod(), v1, signal);
    await failure('a1', /app:v1: GET https:\/\/r\.example\/blob\?\.\.\. 503$/);
    assert.equal(pulledImages().length, limits.attempts);
    world.runtime.answers.clear();
    await eventually('it is over', () => pulls.state(world.pod().metadata?.uid ?? '')?.state === 'failed');
    await pulls.request(world.pod(), v1, signal);
    await success('a1');
  });

  it('may only have met a runtime that was restarting', async () => {
    let left = 2;
    world.runtime.answers.set('PullImage', () => ((left -= 1) >= 0 ? 'reset' : undefined));
    await open().request(world.createPod(), v1, signal);
    await success('a1');
    assert.equal(pulledImages().length, 3);
  });

  it('is not tried again where that cannot help', async () => {
    world.runtime.answers.set('PullImage', () => ({ code: 3, text: 'invalid reference' }));
    await open().request(world.createPod(), v1, signal);
    await failure('a1', /invalid reference/);
    assert.equal(pulledImages().length, 1);
  });

  it('ends when the registry says nothing, with more patience at each attempt', async () => {
    holdPulls();
    const patience = { ...limits, pullMs: 20, longestPullMs: 30 };
    await open({ limits: patience }).request(world.createPod(), v1, signal);
    await failure('a1', /app:v1 was not pulled within 0.03 s: the registry is not responding/);
    const waits = world.runtime.pulls().map(({ headers }) => headers['grpc-timeout']);
    assert.deepEqual(waits, ['20m', '30m', '30m']);
    await Promise.all(world.runtime.pulls().map(({ over }) => over));
  });

  it('is not begun without room on the disk', async () => {
    await open({ limits: { ...limits, disk: { bytes: 0, share: 2 } } }).request(world.createPod(), v1, signal);
    await failure('a1', /MiB are free on the disk that holds the images/);
    assert.equal(pulledImages().length, 0);
  });

  it('may be one that the template forbids', async () => {
    const spec = { containers: [{ name: 'a', image: 'app:v1', imagePullPolicy: 'Never' }] };
    await open().request(world.createPod(), target('a1', spec), signal);
    await failure('a1', /app:v1 is not on the node, and its imagePullPolicy is Never/);
    assert.equal(pulledImages().length, 0);
  });

  it('for want of a runtime names the flag and the cure', async () => {
    await open({ criSocket: '/no/such.sock' }).request(world.createPod(), v1, signal);
    await failure('a1', /--cri-socket \/no\/such\.sock: no such socket; give the container runtime's socket/);
    assert.ok(world.lines.some((line) => line.includes('the container runtime is unavailable: cannot pull images')));
  });
});

describe('pull secrets', () => {
  const image = 'r.example/team/app:v1';
  const loginsTried = () => world.runtime.pulls().map(({ request }) => request.message(2)?.text(1));
  const wrongLogin = { code: 16, text: 'unauthorized' };

  it('of the template are tried, the most exact first, and go to their own registry only', async () => {
    world.addSecret('mine', { 'r.example': 'wide:1', 'r.example/team': 'exact:2', 'other.example': 'foreign:3' });
    world.runtime.answers.set('PullImage', (request) =>
      request.message(2)?.text(1) === 'exact' ? wrongLogin : undefined,
    );
    const spec = {
      imagePullSecrets: [{ name: 'mine' }],
      containers: [
        { name: 'a', image },
        { name: 'b', image: 'public.example/x:v1' },
      ],
    };
    await open().request(world.createPod(), target('a1', spec), signal);
    await success('a1');
    assert.deepEqual(loginsTried(), ['exact', 'wide', undefined]);
  });

  it('of the service account count when the template names none', async () => {
    world.addSecret('mine', { 'r.example': 'mine:1' });
    world.addSecret('theirs', { 'r.example': 'theirs:1' });
    world.addServiceAccount('runner', 'theirs');
    const spec = { serviceAccountName: 'runner', containers: [{ name: 'a', image }] };
    const pulls = open();
    await pulls.request(world.createPod(), target('a1', spec), signal);
    await success('a1');
    world.runtime.images.clear();
    await pulls.request(world.pod(), target('b2', { ...spec, imagePullSecrets: [{ name: 'mine' }] }), signal);
    await success('b2');
    assert.deepEqual(loginsTried(), ['theirs', 'mine']);
  });

  it('that cannot be read are named, and do not keep a public image away', async () => {
    world.link.refused.add('secrets');
    const spec = { imagePullSecrets: [{ name: 'mine' }], containers: [{ name: 'a', image }] };
    const pulls = open();
    await pulls.request(world.createPod(), target('a1', spec), signal);
    await success('a1');
    world.runtime.images.clear();
    world.runtime.answers.set('PullImage', () => wrongLogin);
    await pulls.request(world.pod(), target('b2', spec), signal);
    await failure('b2', /unauthorized; pull secret edge\/mine cannot be read: the agent is not allowed to$/);
    assert.deepEqual(new Set(loginsTried()), new Set([undefined]));
  });

  it('are in no log and in no condition', async () => {
    world.addSecret('mine', { 'r.example': 'me:s3cret' });
    world.runtime.answers.set('PullImage', () => wrongLogin);
    const spec = { imagePullSecrets: [{ name: 'mine' }], containers: [{ name: 'a', image }] };
    await open().request(world.createPod(), target('a1', spec), signal);
    await failure('a1', /unauthorized/);
    assert.doesNotMatch([...world.lines, JSON.stringify(world.pod())].join('\n'), /s3cret|bWU6czNjcmV0/);
  });
});

describe('what happens during a pull', () => {
  it('a lost link: the result is told when it is back', async () => {
    let answer: (() => void) | undefined;
    world.runtime.answers.set('PullImage', () => (stream) => {
      answer = () => {
        stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '0' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.alloc(5));
      };
    });
    await open().request(world.createPod(), v1, signal);
    const go = await eventually('the pull is under way', () => answer);
    world.link.down = true;
    const before = world.link.calls.length;
    go();
    await eventually('it was tried to tell it', () => world.link.calls.length > before + 3);
    world.link.down = false;
    await success('a1');
  });

  it('a lost link that the pull fails for: it is pulled when the link is back', async () => {
    world.runtime.answers.set('PullImage', () =>
      world.link.down ? { code: 14, text: 'no route to host' } : undefined,
    );
    const pulls = open();
    world.runtime.answers.set('ImageStatus', () => {
      world.link.down = true;
      world.runtime.answers.delete('ImageStatus');
      return undefined;
    });
    await pulls.request(world.createPod(), v1, signal);
    await eventually('all attempts failed, and the API server was missed', () => world.link.calls.includes('get pods'));
    assert.equal(pulledImages().length, limits.attempts);
    world.link.down = false;
    await success('a1');
    assert.ok(!JSON.stringify(world.link.bodies).includes('PullImageFail'));
  });

  it('the pod is gone: the pull ends', async () => {
    holdPulls();
    const pulls = open();
    const pod = world.createPod();
    await pulls.request(pod, v1, signal);
    const pull = await aPull();
    pulls.follow([], none);
    pulls.follow([world.pod()], none);
    pulls.follow([], none);
    await pull.over;
    await eventually('nothing is known of it', () => {
      pulls.follow([], none);
      return pulls.state(pod.metadata?.uid ?? '') === undefined;
    });
  });

  it('another pod takes its name: it is told nothing', async () => {
    world.runtime.answers.set('PullImage', () => {
      world.deletePod();
      world.createPod();
      return undefined;
    });
    await open().request(world.createPod(), v1, signal);
    await eventually('the result was to be told', () => world.link.calls.includes('get pods'));
    end.abort(new Error('the test is over'));
    await Promise.all(runs);
    assert.equal(world.condition('PodImageReady'), undefined);
    assert.equal(world.link.bodies.length, 1);
  });

  it('another revision is announced: the pull ends; an older view of the pod ends nothing', async () => {
    holdPulls();
    const pulls = open();
    const old = world.createPod();
    world.announce('a1');
    await pulls.request(world.pod(), v1, signal);
    const pull = await aPull();
    pulls.follow([{ ...old, status: world.announce('b2').status ?? {} }], none);
    let over = false;
    void pull.over.then(() => (over = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(over, false);
    pulls.follow([world.pod()], none);
    await pull.over;
  });

  it('the agent stops: so does the pull, and the next agent takes it up', async () => {
    holdPulls();
    const first = open();
    world.createPod();
    await first.request(world.announce('a1'), v1, signal);
    const pull = await aPull();
    end.abort(new Error('stop'));
    await Promise.all(runs);
    await pull.over;
    assert.equal(told(), 'False PullingImage controllerrevision: a1');

    end = new AbortController();
    world.runtime.answers.clear();
    const second = open();
    const stale = world.pod();
    const asked: string[] = [];
    const find = (_pod: Pod, hash: string) => Promise.resolve(asked.push(hash) > 1 ? v1 : undefined);
    second.follow([stale], find);
    await eventually('the template was asked for in vain', () => asked.length === 1);
    await eventually('it was taken up', () => {
      second.follow([stale], find);
      return pulledImages().length === 2;
    });
    await success('a1');
    const writes = world.link.bodies.length;
    await eventually('it is over', () => second.state(stale.metadata?.uid ?? '')?.state === 'ready');
    second.follow([stale], find);
    second.follow([world.pod()], find);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(world.link.bodies.length, writes, 'a view from before the end begins nothing');
    assert.equal(pulledImages().length, 2);
  });
});
