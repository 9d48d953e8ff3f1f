import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents } from './events.ts';

const read = async (chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<string[]> => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const found: string[] = [];
  for await (const data of readEvents(body)) found.push(data);
  return found;
};

test('events are read wherever the network cuts them', async () => {
  const bytes = new TextEncoder().encode(
    'retry: 2000\n\n: still here\n\ndata: {"a":"é€😀"}\n\nid: 1\ndata:b\r\ndata: c\r\n\r\ndata: cut',
  );
  const expected = ['{"a":"é€😀"}', 'b\nc'];
  for (const size of [1, 2, 3, 5, 7, bytes.length]) {
    const parts = Math.ceil(bytes.length / size);
    const chunks = Array.from({ length: parts }, (_, at) => bytes.slice(at * size, (at + 1) * size));
    assert.deepEqual(await read(chunks), expected, `${size} bytes at a time`);
  }
});

test('who stops reading lets go of the stream', async () => {
  const ended = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
    cancel: () => ended.resolve(),
  });
  for await (const data of readEvents(body)) {
    assert.equal(data, '1');
    break;
  }
  await ended.promise;
});
