// Makes writes that a server takes no byte of, gives them up, and then reads: for connection.test.ts, in its own process,
// since what went wrong here blocked a process for good.
//   node give-up-writes.ts URL

import { createTestClient, testPods } from './support.ts';

const [url = ''] = process.argv.slice(2);
const client = createTestClient(url);
const read = () => client.get(testPods, { namespace: 'a', name: 'x' });
const stop = new AbortController();

await read();
const writes = Array.from({ length: 4 }, (_, index) =>
  client.create(
    testPods,
    { metadata: { namespace: 'a', name: `p${index}`, annotations: { big: 'x'.repeat(60_000) } } },
    { signal: stop.signal },
  ),
);
// What is asked for later is on the wire later: its answer says that the writes wait for room.
await read();
stop.abort(new Error('given up'));
const outcomes = await Promise.allSettled(writes);
process.stdout.write(`${outcomes.map(({ status }) => status).join(' ')}\n`);
await read();
process.stdout.write('read again\n');
await client.close();
