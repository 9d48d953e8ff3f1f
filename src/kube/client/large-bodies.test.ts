import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, type Response, sendJson, startJson, writeText } from '../../../test/support/index.ts';
import { serve, testPods } from '../testing/index.ts';
import { metadataOf } from './resource.ts';

const MIB = 1024 * 1024;

test('a response over the limit is given up at once, and not asked for again', async (t) => {
  const { client, server } = await serve(t, (_request, response) => sendJson(response, { a: 'x'.repeat(2_000) }), {
    maxBodyBytes: 1_000,
  });
  await assert.rejects(client.get(testPods, { namespace: 'a', name: 'x' }), { code: 'TooLarge', happened: 'no' });
  await assert.rejects(client.create(testPods, { metadata: { namespace: 'a' } }), {
    code: 'TooLarge',
    happened: 'unknown',
  });
  assert.equal(server.requests.length, 2);
});

// So much that the kernel cannot hold it, or a stream of HTTP/2: what the server has got rid of was taken in.
for (const { protocol, mib } of [
  { protocol: 'http', mib: 16 },
  { protocol: 'h2', mib: 2 },
] as const) {
  test(`${protocol}: large responses are read two at a time, and small ones do not wait for them`, async (t) => {
    const open: Response[] = [];
    const large = (response: Response): void => {
      startJson(response);
      writeText(response, `{"metadata":{"name":"x"},"text":"${'x'.repeat(mib * MIB)}`);
      open.push(response);
    };
    const { client } = await serve(
      t,
      (request, response) =>
        request.url?.includes('large') ? large(response) : sendJson(response, { metadata: { name: 'x' } }),
      {},
      { protocol },
    );
    const done: number[] = [];
    const read = async (index: number): Promise<void> => {
      await client.get(testPods, { namespace: 'a', name: `large-${index}` });
      done.push(index);
    };
    const first = [read(0), read(1)];
    await eventually('two are taken in', () => open.length === 2 && open.every((each) => each.writableLength === 0));
    const others = [read(2), read(3)];
    await eventually('two more have begun', () => open.length === 4);
    for (const response of open.slice(2)) response.end('"}');
    for (let small = 0; small < 100; small += 1)
      await client.get(testPods, { namespace: 'a', name: 'small' }, { timeoutMs: 5_000 });
    assert.deepEqual(done, []);
    for (const response of open.slice(0, 2)) response.end('"}');
    await Promise.all([...first, ...others]);
    assert.equal(done.length, 4);
  });
}

test('asks for the metadata of objects alone', async (t) => {
  const accepted: (string | undefined)[] = [];
  const { client } = await serve(t, (request, response) => {
    accepted.push(request.headers.accept);
    sendJson(response, { metadata: { name: 'x', resourceVersion: '1' }, items: [] });
  });
  const metadata = metadataOf(testPods);
  await client.list(metadata, { namespace: 'a' });
  await client.get(metadata, { namespace: 'a', name: 'x' });
  await client.list(testPods, { namespace: 'a' });
  assert.match(accepted[0] ?? '', /^application\/json;as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1,/);
  assert.match(accepted[1] ?? '', /^application\/json;as=PartialObjectMetadata;/);
  assert.equal(accepted[2], 'application/json');
});
