import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Pod, PodSpec, Secret } from 'kubernetes-types/core/v1.d.ts';
import { createApiServer, createInProcessClient } from '../../embedded/index.ts';
import {
  createImagePulls,
  createImageSizes,
  type ImagePullsOptions,
  imageReadyOf,
} from '../../src/agent/images/index.ts';
import { type KubeClient, pods, secrets } from '../../src/kube/index.ts';
import { type Env, silentLogger, systemClock } from '../../src/runtime/index.ts';
import { eventually } from '../support/index.ts';
import {
  type Containerd,
  image,
  type Layer,
  layer,
  type Registry,
  startContainerd,
  startRegistry,
  whyNoContainerd,
} from './index.ts';

const env: Env = { clock: systemClock, random: Math.random, log: silentLogger };
const limits: NonNullable<ImagePullsOptions['limits']> = {
  attempts: 3,
  backoff: { baseMs: 20, maxMs: 50 },
  pullMs: 20_000,
  disk: { bytes: 0, share: 0 },
};
const ref = { namespace: 'default', name: 'app' };

let containerd: Containerd;
let registry: Registry;
let client: KubeClient;
let end: AbortController;
let runs: Promise<void>[];
let count = 0;
// What containerd has from one test must not serve another.
const fresh = (): Buffer => {
  count += 1;
  return Buffer.concat([Buffer.from(String(count)), randomBytes(20_000)]);
};

const open = (options: Partial<ImagePullsOptions> = {}) => {
  const pulls = createImagePulls({ client, env, criSocket: containerd.socket, limits, ...options });
  runs.push(pulls.run(end.signal));
  return pulls;
};
const readPod = () => client.get<Pod>(pods, ref);
const request = async (pulls: ReturnType<typeof open>, hash: string, spec: string | Partial<PodSpec>) => {
  const containers = [{ name: 'app', image: typeof spec === 'string' ? spec : '' }];
  const template = { spec: { containers, ...(typeof spec === 'string' ? {} : spec) } };
  await pulls.request(await readPod(), { hash, template }, end.signal);
};
/** The final result for the revision: the cause of its failure, or nothing. */
const outcome = async (hash: string): Promise<string> => {
  const told = await eventually(
    `the pull for ${hash} is over`,
    async () => {
      const ready = imageReadyOf(await readPod());
      return ready?.revision === hash && ready.reason !== 'PullingImage' && ready;
    },
    { everyMs: 20 },
  );
  assert.equal(told.reason, told.message ? 'PullImageFail' : 'PullImageSuccess');
  return told.message;
};
const pull = async (spec: string | Partial<PodSpec>, options: Partial<ImagePullsOptions> = {}): Promise<string> => {
  count += 1;
  const hash = `h${count}`;
  await request(open(options), hash, spec);
  return outcome(hash);
};
const gets = (part: string) => registry.requests.filter(({ method, path }) => method === 'GET' && path.includes(part));
const addSecret = async (auths: Record<string, string>): Promise<void> => {
  const entries = Object.entries(auths).map(([key, login]) => [key, { auth: Buffer.from(login).toString('base64') }]);
  const json = Buffer.from(JSON.stringify({ auths: Object.fromEntries(entries) as unknown })).toString('base64');
  await client.create<Secret>(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'login' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': json },
  });
};

describe('images through a real containerd', { skip: whyNoContainerd() }, () => {
  before(async () => {
    containerd = await startContainerd();
  });
  after(() => containerd.close());
  beforeEach(async () => {
    registry = await startRegistry();
    end = new AbortController();
    runs = [];
    const apiServer = createApiServer(env);
    client = createInProcessClient(apiServer);
    apiServer.create<Pod>(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: ref,
      spec: { nodeName: 'n', containers: [{ name: 'app', image: 'app:v0' }] },
    });
  });
  afterEach(async () => {
    end.abort(new Error('the test is over'));
    await Promise.all(runs);
    await client.close();
    await registry.close();
  });

  it('come without a shell, and even without a file', async () => {
    registry.add('static', 'v1', image('static', [layer('app', fresh())]));
    registry.add('empty', 'v1', image(`empty ${fresh().toString('hex')}`, []));
    const containers = ['static', 'empty'].map((name) => ({ name, image: `${registry.host}/${name}:v1` }));
    assert.equal(await pull({ containers }), '');
    const sent = registry.requests.length;
    assert.equal(await pull({ containers }), '', 'they are there now');
    assert.equal(registry.requests.length, sent);
  });

  it('share the layers that they have in common', async () => {
    const base = layer('base', fresh());
    registry.add('a', 'v1', image('a', [base, layer('app', fresh())]));
    registry.add('b', 'v1', image('b', [base, layer('app', fresh())]));
    const containers = ['a', 'b'].map((name) => ({ name, image: `${registry.host}/${name}:v1` }));
    assert.equal(await pull({ containers }), '');
    assert.equal(gets(base.blob.digest).length, 1);
  });

  it('have the size that was to be downloaded, once they are there', async () => {
    const base = layer('base', fresh());
    const layers = [base, layer('app', fresh())];
    registry.add('sized', 'v1', image('sized', layers));
    const name = `${registry.host}/sized:v1`;
    const sizes = createImageSizes({ env, criSocket: containerd.socket });
    assert.equal(await sizes.refresh([name], end.signal), false);
    assert.equal(sizes.of([name]), null);
    assert.equal(await pull(name), '');
    const later = createImageSizes({ env, criSocket: containerd.socket });
    assert.equal(await later.refresh([name], end.signal), true);
    const compressed = layers.reduce((sum, { blob }) => sum + blob.bytes.length, 0);
    const reported = later.of([name]) ?? 0;
    // Besides its layers, an image has a manifest and a configuration.
    assert.ok(reported >= compressed && reported < compressed + 4_000, `${reported} of ${compressed}`);
  });

  it('come by digest, and by no digest that the registry does not have', async () => {
    const pinned = image('pinned', [layer('app', fresh())]);
    registry.add('pinned', 'v1', pinned);
    assert.equal(await pull(`${registry.host}/pinned@${pinned.manifest.digest}`), '');
    assert.match(await pull(`${registry.host}/pinned@sha256:${'0'.repeat(64)}`), /not found/);
    assert.match(await pull(`${registry.host}/pinned:v9`), /not found/);
  });

  it('that are not what their digest says are refused', async () => {
    const app = layer('app', fresh());
    registry.add('app', 'v1', image('app', [app]));
    registry.fault = (path) => (path.includes(app.blob.digest) ? 'corrupt' : undefined);
    assert.match(await pull(`${registry.host}/app:v1`), /app:v1: .*digest/);
  });

  it('are asked for again when the registry is unavailable or cuts them short', async () => {
    const app = layer('app', fresh());
    registry.add('app', 'v1', image('app', [app]));
    const faults = ['unavailable', 'truncate'] as const;
    let left: number = faults.length;
    registry.fault = (path) => (path.includes(app.blob.digest) && left > 0 ? faults[(left -= 1)] : undefined);
    assert.equal(await pull(`${registry.host}/app:v1`, { limits: { ...limits, attempts: 6 } }), '');
    assert.equal(left, 0);
    registry.fault = () => 'unavailable';
    assert.match(await pull(`${registry.host}/other:v1`), /503/);
  });

  it('of a registry that says nothing are given up, and its connections closed', async () => {
    registry.add('app', 'v1', image('app', [layer('app', fresh())]));
    registry.fault = () => 'silence';
    const cause = await pull(`${registry.host}/app:v1`, { limits: { ...limits, attempts: 2, pullMs: 300 } });
    assert.match(cause, /was not pulled within 0.6 s: the registry is not responding/);
    await Promise.all(registry.requests.map(({ over }) => over));
    assert.ok(registry.requests.length >= 2);
  });

  it('that take longer than one attempt come with the next', async () => {
    const [first, second] = [layer('a', fresh()), layer('b', fresh())];
    registry.add('large', 'v1', image('large', [first, second]));
    const asked = (each: Layer): number => gets(each.blob.digest).length;
    // The second layer waits until the first attempt has ended. Whether the first one is still here then is up to
    // containerd's garbage collection: mostly it is.
    registry.fault = (path) => (path.includes(second.blob.digest) && asked(second) === 1 ? 'silence' : undefined);
    assert.equal(await pull(`${registry.host}/large:v1`, { limits: { ...limits, attempts: 4, pullMs: 2500 } }), '');
    assert.equal(asked(second), 2);
  });

  it('of a private registry come with its login, which no other registry sees', async () => {
    const foreign = await startRegistry();
    try {
      containerd.useRegistry('private.example', registry.host);
      containerd.useRegistry('foreign.example', foreign.host);
      registry.login = 'me:s3cret';
      foreign.login = 'them:other';
      for (const each of [registry, foreign]) each.add('team/app', 'v1', image('app', [layer('app', fresh())]));
      assert.match(await pull('private.example/team/app:v1'), /401|authorization/i);
      await addSecret({ 'private.example/team': 'me:wrong', 'private.example': 'me:s3cret' });
      const imagePullSecrets = [{ name: 'login' }];
      const containers = (host: string) => [{ name: 'app', image: `${host}/team/app:v1` }];
      assert.equal(await pull({ imagePullSecrets, containers: containers('private.example') }), '');
      assert.match(await pull({ imagePullSecrets, containers: containers('foreign.example') }), /401|authorization/i);
      assert.ok(foreign.requests.length > 0);
      assert.deepEqual(new Set(foreign.requests.map(({ authorization }) => authorization)), new Set([undefined]));
    } finally {
      await foreign.close();
    }
  });

  it('are no longer loaded once another revision is asked for', async () => {
    const old = layer('app', fresh());
    registry.add('app', 'v1', image('app', [old]));
    registry.add('app', 'v2', image('app', [layer('app', fresh())]));
    registry.fault = (path) => (path.includes(old.blob.digest) ? 'silence' : undefined);
    const pulls = open();
    await request(pulls, 'a1', `${registry.host}/app:v1`);
    const [loading] = await eventually(
      'the first is being loaded',
      () => {
        const found = gets(old.blob.digest);
        return Promise.resolve(found.length > 0 && found);
      },
      { everyMs: 10 },
    );
    await request(pulls, 'b2', `${registry.host}/app:v2`);
    await loading?.over;
    assert.equal(await outcome('b2'), '');
  });

  it('are loaded on when containerd was killed meanwhile', async () => {
    const app = layer('app', fresh());
    registry.add('app', 'v1', image('app', [app]));
    registry.fault = (path) => (path.includes(app.blob.digest) ? 'silence' : undefined);
    await request(open({ limits: { ...limits, attempts: 100 } }), 'a1', `${registry.host}/app:v1`);
    await eventually('it is being loaded', () => Promise.resolve(gets(app.blob.digest).length > 0), {
      everyMs: 10,
    });
    await containerd.kill();
    registry.fault = () => undefined;
    await containerd.start();
    assert.equal(await outcome('a1'), '');
  });

  it('are not loaded when the disk of the images is nearly full', async () => {
    registry.add('app', 'v1', image('app', [layer('app', fresh())]));
    const cause = await pull(`${registry.host}/app:v1`, { limits: { ...limits, disk: { bytes: 0, share: 1.5 } } });
    assert.ok(cause.includes(`free on the disk that holds the images (${containerd.dir}/root/`), cause);
    assert.equal(registry.requests.length, 0);
  });
});
