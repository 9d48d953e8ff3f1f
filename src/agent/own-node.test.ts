import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ContainerImage } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, KubeError } from '../kube/index.ts';
import { fullImageName } from '../rollout/index.ts';
import { createVirtualClock, silentLogger } from '../runtime/index.ts';
import { createOwnNode } from './own-node.ts';

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
    annotations: {} as Record<string, string>,
    /** The kubelet reports these sizes. */
    report: (sizes: Record<string, number>): void => {
      node.images = Object.entries(sizes).map(([name, sizeBytes]) => ({ names: [fullImageName(name)], sizeBytes }));
    },
  };
  const get = () => {
    node.reads.push(Math.floor(clock.now()));
    return node.error
      ? Promise.reject(node.error)
      : Promise.resolve({ metadata: { annotations: node.annotations }, status: { images: node.images } });
  };
  const disk = new Map<string, string>();
  const files = {
    read: (file: string) => disk.get(file),
    replace: async (file: string, text: string) => void disk.set(file, text),
  };
  const open = (name = 'n1', enabled = true) =>
    createOwnNode({
      client: { get } as unknown as Pick<KubeClient, 'get'>,
      env: { clock, random: () => 0.5, log: silentLogger },
      node: name,
      enabled,
      dir: '/state',
      files,
      connected: () => node.connected,
      wanted: () => node.wanted,
      onChange: () => {
        node.changes += 1;
      },
      signal: stop.signal,
    });
  const own = open();
  const refresh = (): Promise<void> => {
    own.refresh();
    return clock.advance(0);
  };
  return { clock, node, own, sizes: own.sizes, refresh, stop, open, disk };
};

describe('the names of the Node', () => {
  const annotations = {
    'edgeset.io/display-name': '  Bus 17,\n depot\u202E ',
    'edgeset.io/administrator': '+49 30 1234567',
  };
  const names = { displayName: 'Bus 17, depot', administrator: '+49 30 1234567' };
  const nothing = { displayName: null, administrator: null };

  it('are known once it is read, although no image is wanted, and follow it within an hour', async (t) => {
    const { clock, node, own, refresh } = createSetup(t);
    node.wanted = [];
    node.annotations = annotations;
    assert.deepEqual(own.names(), nothing);
    await refresh();
    assert.deepEqual([own.names(), node.changes], [names, 1]);
    await refresh();
    assert.equal(node.reads.length, 1);
    node.annotations = {};
    await clock.advance(HOUR);
    assert.deepEqual([own.names(), node.changes], [nothing, 2]);
  });

  it('are known offline after a restart, on the same device only', async (t) => {
    const { node, own, refresh, open } = createSetup(t);
    node.annotations = annotations;
    await refresh();
    await own.flush();
    node.connected = false;
    assert.deepEqual(open().names(), names);
    assert.deepEqual(open('n2').names(), nothing);
  });

  it('are neither read nor shown without the flag', async (t) => {
    const { node, own, refresh, open, clock } = createSetup(t);
    node.annotations = annotations;
    await refresh();
    await own.flush();
    const without = open('n1', false);
    without.refresh();
    await clock.advance(0);
    assert.deepEqual([without.names(), node.reads.length], [nothing, 1]);
  });

  it('stay when it can no longer be read, and are not believed in a file that is damaged', async (t) => {
    const { clock, node, own, refresh, open, disk } = createSetup(t);
    node.wanted = [];
    node.annotations = annotations;
    await refresh();
    node.error = new KubeError('Forbidden', 'no', { status: 403 });
    await clock.advance(HOUR);
    assert.deepEqual([own.names(), node.reads.length], [names, 2]);
    await own.flush();
    assert.equal(disk.size, 1);
    for (const [file, text] of disk) disk.set(file, text.replace('Bus', 'Car'));
    assert.deepEqual(open().names(), nothing);
  });

  it('are cut off', async (t) => {
    const { node, own, refresh } = createSetup(t);
    const long = 'x'.repeat(5_000);
    node.annotations = { 'edgeset.io/display-name': long, 'edgeset.io/administrator': `https://e.org/${long}` };
    await refresh();
    const { displayName, administrator } = own.names();
    assert.equal(displayName, `${'x'.repeat(63)}…`);
    assert.deepEqual([administrator?.length, administrator?.at(-1)], [128, '…']);
  });
});

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
