import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ContainerImage } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, KubeError } from '../kube/index.ts';
import { fullImageName } from '../rollout/index.ts';
import { createVirtualClock, silentLogger } from '../runtime/index.ts';
import { createImageSizes } from './image-sizes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const createSetup = (t: TestContext) => {
  const clock = createVirtualClock(0);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const node = {
    reads: [] as number[],
    changes: 0,
    wanted: ['a'] as readonly string[],
    connected: true,
    error: undefined as KubeError | undefined,
    images: [] as ContainerImage[],
    /** The kubelet reports these sizes. */
    report: (sizes: Record<string, number>): void => {
      node.images = Object.entries(sizes).map(([name, sizeBytes]) => ({ names: [fullImageName(name)], sizeBytes }));
    },
  };
  const get = () => {
    node.reads.push(Math.floor(clock.now()));
    return node.error ? Promise.reject(node.error) : Promise.resolve({ status: { images: node.images } });
  };
  const sizes = createImageSizes({
    client: { get } as unknown as Pick<KubeClient, 'get'>,
    env: { clock, random: () => 0.5, log: silentLogger },
    node: 'n1',
    connected: () => node.connected,
    wanted: () => node.wanted,
    onChange: () => {
      node.changes += 1;
    },
    signal: stop.signal,
  });
  const refresh = (): Promise<void> => {
    sizes.refresh();
    return clock.advance(0);
  };
  return { clock, node, sizes, refresh, stop };
};

describe('the sizes of images', () => {
  it('are known once the Node shows all of them, each counted once', async (t) => {
    const { node, sizes, refresh } = createSetup(t);
    node.report({ a: 40, b: 2 });
    node.wanted = ['a', 'b', 'a'];
    assert.equal(sizes.of(['a']), null);
    await refresh();
    assert.deepEqual([sizes.of(['a', 'b', 'a']), sizes.of(['a', 'absent']), sizes.of([])], [42, null, null]);
    assert.equal(node.changes, 1);
  });

  it('are read once for the same images, again for others, and after an hour because tags move', async (t) => {
    const { clock, node, sizes, refresh } = createSetup(t);
    node.report({ a: 1, b: 2 });
    await refresh();
    await refresh();
    node.wanted = ['a', 'b'];
    await refresh();
    assert.deepEqual(node.reads, [0, 0]);
    node.report({ a: 3, b: 4 });
    await clock.advance(HOUR);
    assert.deepEqual([node.reads, sizes.of(['a', 'b'])], [[0, 0, HOUR], 7]);
  });

  it('are read less and less often while the Node does not show one', async (t) => {
    const { clock, node, sizes, refresh } = createSetup(t);
    await refresh();
    await clock.advance(7 * MINUTE);
    assert.deepEqual(node.reads, [0, MINUTE, 3 * MINUTE, 7 * MINUTE]);
    node.report({ a: 1 });
    await clock.advance(8 * MINUTE);
    assert.equal(sizes.of(['a']), 1);
  });

  it('are read only while the API server answers, and at once when it does again', async (t) => {
    const { node, sizes, refresh } = createSetup(t);
    node.report({ a: 1 });
    node.connected = false;
    await refresh();
    assert.deepEqual(node.reads, []);
    node.connected = true;
    node.error = new KubeError('Transport', 'the link is cut');
    await refresh();
    node.error = undefined;
    await refresh();
    assert.deepEqual([node.reads.length, sizes.of(['a'])], [2, 1]);
  });

  it('stay unknown without permission, which is asked for less and less often', async (t) => {
    const { clock, node, sizes, refresh, stop } = createSetup(t);
    node.error = new KubeError('Forbidden', 'no', { status: 403 });
    await refresh();
    await refresh();
    await clock.advance(3 * MINUTE);
    assert.deepEqual([node.reads.length, sizes.of(['a'])], [3, null]);
    stop.abort();
    await clock.advance(HOUR);
    assert.equal(node.reads.length, 3);
  });
});
