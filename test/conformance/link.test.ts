import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { settledWithin } from '../support/index.ts';
import { type Link, openLink } from './index.ts';

describe('a link', () => {
  let arrived = 0;
  const echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', ({ length }) => void (arrived += length));
    socket.pipe(socket);
  });
  let link: Link;
  before(async () => {
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const address = echo.address();
    assert.ok(typeof address === 'object' && address);
    link = await openLink({ host: '127.0.0.1', port: address.port });
  });
  after(async () => {
    await link.close();
    echo.close();
  });

  const dial = async (): Promise<Socket> => {
    const socket = connect(link.port, '127.0.0.1');
    // Those that outlive their test are reset when the link is closed.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const say = async (socket: Socket, words: string): Promise<string> => {
    socket.write(words);
    const [answer] = (await settledWithin(once(socket, 'data'), 5000)) as [Buffer];
    return answer.toString();
  };

  it('passes bytes and their end in both directions', async () => {
    const socket = await dial();
    assert.equal(await say(socket, 'hello'), 'hello');
    const ended = once(socket, 'end');
    socket.end();
    await settledWithin(ended, 5000);
  });

  it('closes connections when it is cut, and accepts none until it is restored', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    const closed = once(socket, 'close');
    link.cut();
    await settledWithin(closed, 5000);
    const refused = connect(link.port, '127.0.0.1');
    // The system takes the connection before the link can refuse it.
    const [error] = (await settledWithin(once(refused, 'error'), 5000)) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    link.restore();
    assert.equal(await say(await dial(), 'again'), 'again');
  });

  it('holds bytes back while it is stalled, and delivers them when it is restored', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    link.stall();
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    socket.write('held');
    await assert.rejects(settledWithin(answer, 200));
    link.restore();
    assert.equal((await settledWithin(answer, 5000))[0].toString(), 'held');
    socket.destroy();
  });

  it('holds back bytes in flight when it is stalled', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    link.slow({ latencyMs: 200 });
    const heard = arrived;
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    socket.write('late');
    await assert.rejects(settledWithin(answer, 50));
    link.stall();
    await assert.rejects(settledWithin(answer, 500));
    assert.equal(arrived, heard);
    link.restore();
    assert.equal((await settledWithin(answer, 5000))[0].toString(), 'late');
    socket.destroy();
  });

  it('has the latency and bandwidth that are set', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    link.slow({ latencyMs: 100 });
    const started = performance.now();
    await say(socket, 'slow');
    assert.ok(performance.now() - started >= 195);
    link.slow({ bytesPerSecond: 10_000 });
    const next = performance.now();
    await say(socket, 'x'.repeat(1000));
    assert.ok(performance.now() - next >= 195);
    link.restore();
    socket.destroy();
  });

  it('delivers what was sent together together and in order, however late', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    link.slow({ latencyMs: 100 });
    const started = performance.now();
    let heard = '';
    socket.on('data', (chunk: Buffer) => void (heard += chunk.toString()));
    for (const word of ['a', 'b', 'c', 'd', 'e']) {
      socket.write(word);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    while (heard.length < 5) await settledWithin(once(socket, 'data'), 5000);
    assert.equal(heard, 'abcde');
    assert.ok(performance.now() - started < 500, 'each was late by itself');
    link.restore();
    socket.destroy();
  });

  it('resets open connections and accepts new ones', async () => {
    const socket = await dial();
    await say(socket, 'hello');
    const failed = once(socket, 'error');
    link.reset();
    const [error] = (await settledWithin(failed, 5000)) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    assert.equal(await say(await dial(), 'again'), 'again');
  });
});
