import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../../runtime/index.ts';
import { type Answer, type FakeRuntime, startFakeRuntime } from '../testing/fake-runtime.ts';
import { createCriClient } from './client.ts';
import { messageField, textField } from './protobuf.ts';

const { signal } = new AbortController();
const dir = mkdtempSync(join(tmpdir(), 'edgeset-cri-test-'));
after(() => rmSync(dir, { recursive: true, force: true }));

describe('the container runtime', () => {
  let runtime: FakeRuntime;
  beforeEach(async () => {
    runtime = startFakeRuntime();
    await runtime.start();
  });
  afterEach(() => runtime.close());
  const cri = () => createCriClient(runtime.socket, systemClock);
  const answer = (method: string, ...queue: Answer[]) => runtime.answers.set(method, () => queue.shift());

  it('reports its name, version and conditions', async () => {
    answer('Status', {
      message: messageField(
        1,
        messageField(1, textField(1, 'RuntimeReady'), Uint8Array.of(0x10, 1)),
        messageField(1, textField(1, 'NetworkReady'), textField(4, 'no network plugin')),
      ),
    });
    assert.deepEqual(await cri().check(signal), {
      runtime: 'fake 1.0',
      problems: ['NetworkReady: no network plugin'],
    });
  });

  it('gets the image name, the login, and the remaining time', async () => {
    assert.equal(await cri().hasImage('registry.example/app:v1', signal), false);
    await cri().pull('registry.example/app:v1', { username: 'me', password: 'pässword' }, 5000, signal);
    assert.equal(await cri().hasImage('registry.example/app:v1', signal), true);
    const [call] = runtime.pulls();
    assert.equal(call?.request.message(1)?.text(1), 'registry.example/app:v1');
    assert.equal(call?.request.message(2)?.text(1), 'me');
    assert.equal(call?.request.message(2)?.text(2), 'pässword');
    assert.equal(call?.headers['grpc-timeout'], '5000m');
    assert.equal(call?.headers.te, 'trailers');
    assert.equal(call?.headers[':path'], '/runtime.v1.ImageService/PullImage');
  });

  it('reports the size of an image that it has', async () => {
    assert.equal(await cri().imageBytes('app:v1', signal), undefined);
    // A number beyond 32 bits: 5,000,000,000.
    const size = Uint8Array.of(0x20, 0x80, 0xe4, 0x97, 0xd0, 0x12);
    answer('ImageStatus', { message: messageField(1, textField(1, 'sha256:abc'), size) });
    assert.equal(await cri().imageBytes('app:v1', signal), 5_000_000_000);
    answer('ImageStatus', { message: messageField(1, textField(1, 'sha256:abc')) });
    assert.equal(await cri().imageBytes('app:v1', signal), undefined, 'it has the image, and does not say');
  });

  it('may report the folder of its images', async () => {
    assert.equal(await cri().imageFolder(signal), join(runtime.socket, '..'));
    answer('ImageFsInfo', { message: new Uint8Array(0) });
    assert.equal(await cri().imageFolder(signal), undefined);
  });

  it('refuses with a code and a message', async () => {
    answer('PullImage', { code: 5, text: 'failed to pull "a/b:c": 100% nöt found' });
    await assert.rejects(cri().pull('a', undefined, 5000, signal), {
      code: 'NotFound',
      message: 'failed to pull "a/b:c": 100% nöt found',
    });
    const inTrailers = (stream: ServerHttp2Stream): void => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '2', 'grpc-message': 'broken 50% off' }));
      stream.end();
    };
    answer('PullImage', inTrailers);
    await assert.rejects(cri().pull('a', undefined, 5000, signal), { code: 'Unknown', message: 'broken 50% off' });
    answer('ImageStatus', { code: 99, text: '' });
    await assert.rejects(cri().hasImage('a', signal), { code: 'Unknown', message: 'Unknown' });
  });

  it('with an invalid gRPC response is distinguished from one that refuses', async () => {
    const body =
      (bytes: number[], trailers = true) =>
      (stream: ServerHttp2Stream): void => {
        stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: trailers });
        if (trailers) stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from(bytes));
      };
    const cases: [string, Answer, string][] = [
      ['compressed', body([1, 0, 0, 0, 0]), 'Internal'],
      ['too short', body([0, 0, 0]), 'Internal'],
      ['announced longer', body([0, 0, 0, 0, 9, 1]), 'Internal'],
      ['no protobuf', body([0, 0, 0, 0, 2, 0x0a, 0x7f]), 'Internal'],
      ['endless number', body([0, 0, 0, 0, 12, ...Array<number>(12).fill(0xff)]), 'Internal'],
      ['no trailers', body([0, 0, 0, 0, 0], false), 'Unavailable'],
      ['HTTP 404', (stream) => stream.respond({ ':status': 404 }, { endStream: true }), 'Unimplemented'],
      ['HTTP 503', (stream) => stream.respond({ ':status': 503 }, { endStream: true }), 'Unavailable'],
      ['a web page', (stream) => stream.respond({ 'content-type': 'text/html' }, { endStream: true }), 'Unknown'],
    ];
    for (const [name, given, code] of cases) {
      answer('ImageStatus', given);
      await assert.rejects(cri().hasImage('a', signal), { code }, name);
    }
  });

  it('can send a limited response only', async () => {
    answer('ImageStatus', (stream) => {
      stream.respond({ 'content-type': 'application/grpc' });
      const more = (): void => void (stream.destroyed || stream.write(Buffer.alloc(65_536), more));
      more();
    });
    await assert.rejects(cri().hasImage('a', signal), { code: 'ResourceExhausted' });
    await runtime.calls[0]?.over;
  });

  it('that does not respond in time is disconnected', async () => {
    answer('PullImage', 'silence');
    await assert.rejects(cri().pull('a', undefined, 50, signal), { code: 'DeadlineExceeded' });
    await runtime.calls[0]?.over;
  });

  it('is disconnected when a call is cancelled', async () => {
    answer('PullImage', 'silence');
    const stop = new AbortController();
    const pull = cri().pull('a', undefined, 60_000, stop.signal);
    runtime.answers.set('PullImage', () => {
      queueMicrotask(() => stop.abort(new Error('enough')));
      return 'silence';
    });
    await assert.rejects(pull, /enough/);
    await runtime.calls[0]?.over;
    await assert.rejects(cri().pull('a', undefined, 60_000, stop.signal), /enough/);
  });

  it('can restart between calls and during a call', async () => {
    const client = cri();
    answer('PullImage', 'reset');
    await assert.rejects(client.pull('a', undefined, 5000, signal), { code: 'Unavailable' });
    await runtime.stop();
    await assert.rejects(client.hasImage('a', signal), { code: 'SocketMissing' });
    await runtime.start();
    assert.equal(await client.hasImage('a', signal), false);
  });
});

describe('a socket that does not belong to the runtime', () => {
  const failure = (socket: string, code: string, cure: RegExp) =>
    assert.rejects(createCriClient(socket, systemClock).check(signal), (error: Error & { code: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, new RegExp(`^--cri-socket ${socket}: `));
      assert.match(error.message, cure);
      return true;
    });

  it('is reported with the fix', async () => {
    await failure(join(dir, 'none.sock'), 'SocketMissing', /mount it when the agent runs as a pod/);
    const file = join(dir, 'file');
    writeFileSync(file, '');
    await failure(file, 'SocketUnserved', /that this is its CRI socket/);
  });

  it('may deny access to the agent', { skip: process.getuid?.() === 0 && 'root may open everything' }, async () => {
    const socket = join(dir, 'closed.sock');
    const server = createServer().listen(socket);
    chmodSync(socket, 0);
    await failure(socket, 'SocketForbidden', /leave the flag out/);
    server.close();
  });

  it('may use another protocol, or not respond', async () => {
    const socket = join(dir, 'other.sock');
    const server = createServer((peer) => peer.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await assert.rejects(createCriClient(socket, systemClock).check(signal), { code: 'Unavailable' });
    server.close();
  });
});
