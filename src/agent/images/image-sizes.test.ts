import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createVirtualClock, silentLogger, systemClock } from '../../runtime/index.ts';
import { messageField, textField } from './cri/protobuf.ts';
import { createImageSizes, type ImageSizes } from './image-sizes.ts';
import { type FakeRuntime, startFakeRuntime } from './testing/fake-runtime.ts';

const { signal } = new AbortController();

let runtime: FakeRuntime;
let nowMs: number;
let sizes: ImageSizes;

/** The runtime has the image, and says that it takes so many bytes, below 128. */
const has = (images: Record<string, number>): void => {
  runtime.answers.set('ImageStatus', (request) => {
    const bytes = images[request.message(1)?.text(1) ?? ''];
    const image = messageField(1, textField(1, 'sha256:abc'), Uint8Array.of(0x20, bytes ?? 0));
    return { message: bytes === undefined ? new Uint8Array(0) : image };
  });
};

beforeEach(async () => {
  runtime = startFakeRuntime();
  await runtime.start();
  nowMs = 0;
  const clock = { ...systemClock, now: () => nowMs };
  sizes = createImageSizes({ env: { clock, random: Math.random, log: silentLogger }, criSocket: runtime.socket });
});
afterEach(() => runtime.close());

describe('the sizes of images', () => {
  it('are known once the runtime has said all of them, each counted once', async () => {
    has({ a: 40, b: 2 });
    assert.equal(sizes.of(['a']), null);
    assert.equal(await sizes.refresh(['a', 'b', 'a', 'absent'], signal), true);
    assert.equal(sizes.of(['a', 'b', 'a']), 42);
    assert.equal(sizes.of(['a', 'absent']), null);
    assert.equal(sizes.of([]), null);
    assert.equal(await sizes.refresh(['a', 'b'], signal), false, 'nothing new');
  });

  it('are asked for again: soon if unknown, and after an hour because tags move', async () => {
    has({ a: 1 });
    await sizes.refresh(['a', 'b'], signal);
    const { length } = runtime.calls;
    has({ a: 3, b: 4 });
    nowMs += 10_000;
    await sizes.refresh(['a', 'b'], signal);
    assert.equal(runtime.calls.length, length);
    nowMs += 30_000;
    assert.equal(await sizes.refresh(['a', 'b'], signal), true);
    assert.equal(sizes.of(['a', 'b']), 5);
    nowMs += 3_600_000;
    assert.equal(await sizes.refresh(['a', 'b'], signal), true);
    assert.equal(sizes.of(['a', 'b']), 7);
  });

  it('are forgotten with the images', async () => {
    has({ a: 1, b: 2 });
    await sizes.refresh(['a', 'b'], signal);
    await sizes.refresh(['b'], signal);
    assert.deepEqual([sizes.of(['a']), sizes.of(['b'])], [null, 2]);
  });

  it('stay unknown without a runtime, and while it refuses', async () => {
    runtime.answers.set('ImageStatus', () => ({ code: 13, text: 'broken' }));
    assert.equal(await sizes.refresh(['a'], signal), false);
    assert.equal(sizes.of(['a']), null);
    const env = { clock: createVirtualClock(0), random: Math.random, log: silentLogger };
    const without = createImageSizes({ env, criSocket: undefined });
    assert.equal(await without.refresh(['a'], signal), false);
    assert.equal(without.of(['a']), null);
  });
});
