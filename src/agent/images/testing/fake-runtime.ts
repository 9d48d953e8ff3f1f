import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Message, messageField, readMessage, textField } from '../cri/protobuf.ts';

/** A call that the runtime received. */
export interface Seen {
  method: string;
  request: Message;
  /** The headers of the call. */
  headers: Readonly<Record<string, unknown>>;
  /** Settles when the call was answered or the caller has disconnected. */
  over: Promise<void>;
}

export type Answer =
  | { message: Uint8Array }
  | { code: number; text: string }
  /** Does not respond. */
  | 'silence'
  /** Resets the connection. */
  | 'reset'
  /** Takes the stream over. */
  | ((stream: ServerHttp2Stream) => void);

const frame = (message: Uint8Array): Buffer => {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
};

const send = (stream: ServerHttp2Stream, answer: Exclude<Answer, 'silence' | 'reset'>): void => {
  if (typeof answer === 'function') return answer(stream);
  if ('code' in answer) {
    stream.respond(
      {
        'content-type': 'application/grpc',
        'grpc-status': String(answer.code),
        'grpc-message': encodeURIComponent(answer.text),
      },
      { endStream: true },
    );
    return;
  }
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame(answer.message));
};

export const anImage: Answer = { message: messageField(1, textField(1, 'sha256:abc')) };
export const empty: Answer = { message: new Uint8Array(0) };

/**
 * A fake container runtime that speaks the real protocol. It has the images in `images`, and a pull adds one. `answers`
 * overrides the response by method name.
 */
export const startFakeRuntime = () => {
  const dir = mkdtempSync(join(tmpdir(), 'edgeset-cri-'));
  const socket = join(dir, 'cri.sock');
  const images = new Set<string>();
  const calls: Seen[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const answers = new Map<string, (request: Message) => Answer | undefined>();
  let server: Http2Server | undefined;

  const usual = (method: string, request: Message): Answer => {
    if (method === 'Version') return { message: Buffer.concat([textField(2, 'fake'), textField(3, '1.0')]) };
    if (method === 'Status') return empty;
    if (method === 'ImageFsInfo') return { message: messageField(1, messageField(2, textField(1, dir))) };
    const image = request.message(1)?.text(1) ?? '';
    if (method === 'ImageStatus') return images.has(image) ? anImage : empty;
    if (method !== 'PullImage') return { code: 12, text: `unknown method ${method}` };
    images.add(image);
    return { message: textField(1, 'sha256:abc') };
  };

  const onStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): void => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const method = String(headers[':path']).split('/').at(-1) ?? '';
      const request = readMessage(Buffer.concat(chunks).subarray(5));
      const over = new Promise<void>((resolve) => {
        stream.once('close', resolve);
      });
      calls.push({ method, request, headers, over });
      const answer = answers.get(method)?.(request) ?? usual(method, request);
      if (answer === 'reset') stream.session?.destroy();
      else if (answer !== 'silence') send(stream, answer);
    });
  };

  const runtime = {
    socket,
    images,
    calls,
    answers,
    pulls: () => calls.filter(({ method }) => method === 'PullImage'),
    start: async (): Promise<void> => {
      server = createServer();
      server.on('session', (session) => {
        sessions.add(session);
        session.on('error', () => undefined);
        session.on('close', () => sessions.delete(session));
      });
      server.on('stream', onStream);
      await new Promise<void>((resolve) => server?.listen(socket, resolve));
    },
    stop: async (): Promise<void> => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server?.close(() => resolve()));
    },
    close: async (): Promise<void> => {
      await runtime.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return runtime;
};
export type FakeRuntime = ReturnType<typeof startFakeRuntime>;
