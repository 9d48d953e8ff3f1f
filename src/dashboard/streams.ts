import type { ServerResponse } from 'node:http';
import { failure, type HttpResponse, safeHeaders } from '../http/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { View } from './gate.ts';
import type { StreamMessage } from './messages.ts';
import { createShares } from './shares.ts';

/** How often to look whether the watches have failed; a page that hears nothing takes the dashboard for gone. */
const BEAT_MS = 1_000;
const HEARTBEATS = 15;
/** How often to ask whether the caller may still see what the stream shows. */
const CHECKS = 15;
const RECONNECT_MS = 2_000;
/** A page that does not read must not fill the memory: it connects again, and gets the whole state then. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;
/** Of all streams together, before another one begins: with TLS, each has a copy. */
const MOST_UNREAD_OF_ALL = 64 * 1024 * 1024;
const BOUNDS = { most: 500, mostOfOne: 64 };
/** A page shows times by the cluster's clock, as far as it knows it. */
const CLOCK_SLACK_MS = 500;

interface Viewer extends Pick<View, 'key' | 'signal' | 'mayStay'> {
  /** What the stream is about, where there are several clusters; undefined for all of them. */
  cluster?: string | undefined;
}

export interface StreamsOptions {
  /** Of those who read. */
  clock: Clock;
  /** The time that the times of the cluster are compared with, epoch ms. */
  now: () => number;
  /** Why the streams about a cluster, or about all, are not up to date; empty if they are. */
  trouble: (cluster: string | undefined) => string;
}

/** Streams of server-sent events to pages. */
export const createStreams = ({ clock, now, trouble }: StreamsOptions) => {
  const ends = new Map<() => void, ServerResponse>();
  const shares = createShares<() => void>(BOUNDS);
  /** When there are too many, who has most of them loses one, so that everybody else can look. */
  const makeRoom = (key: string): HttpResponse | undefined => {
    const unread = ends.values().reduce((sum, { writableLength }) => sum + writableLength, 0);
    const victim = shares.victim(key);
    if (unread > MOST_UNREAD_OF_ALL || (victim && shares.of(victim.holder) <= shares.of(key) + 1))
      return failure(429, 'too many pages are open: close some of them', { retryAfterSeconds: 10 });
    victim?.item();
    return undefined;
  };
  /** One message goes to all who look at the same rollout: it is encoded once. */
  const encoded = new WeakMap<object, Buffer>();
  const encode = (message: object): Buffer => {
    const found = encoded.get(message) ?? Buffer.from(`data: ${JSON.stringify(message)}\n\n`);
    encoded.set(message, found);
    return found;
  };
  return {
    get size(): number {
      return ends.size;
    },
    /** `open` subscribes to what is sent, and returns the end of the subscription. Resolves with a refusal, or undefined. */
    open(
      response: ServerResponse,
      { key, signal, mayStay, cluster }: Viewer,
      open: (send: (message: object) => void) => () => void,
    ): HttpResponse | undefined {
      const refused = makeRoom(key);
      if (refused || signal?.aborted || response.destroyed) {
        // Ends what the caller has opened.
        open(() => undefined)();
        return refused ?? failure(401, 'log in again');
      }
      response.writeHead(200, { ...safeHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.write(`retry: ${RECONNECT_MS}\n\n`);
      let beats = 0;
      let told = '';
      const heartbeat = (): void => {
        const text = trouble(cluster);
        sendClock();
        beats += 1;
        if (text !== told) send({ type: 'trouble', text } satisfies StreamMessage);
        // A message, and no comment of the protocol: the page tells from it when it heard something last.
        else if (beats % HEARTBEATS === 0) tellClock();
        if (beats % CHECKS === 0) void check();
        told = text;
        if (!isOver) beat = clock.timer(BEAT_MS, heartbeat);
      };
      let beat = clock.timer(BEAT_MS, heartbeat);
      let close: (() => void) | undefined;
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        ends.delete(end);
        shares.drop(key, end);
        beat.cancel();
        signal?.removeEventListener('abort', end);
        close?.();
        response.end();
      };
      /** Without an answer, nobody knows whether the caller may still see it. */
      const check = async (): Promise<void> => {
        const isFine = await mayStay().catch(() => false);
        if (!isFine) end();
      };
      ends.set(end, response);
      shares.use(key, end);
      signal?.addEventListener('abort', end);
      response.on('close', end);
      response.on('error', end);
      const send = (message: object): void => {
        if (isOver) return;
        response.write(encode(message));
        if (response.writableLength <= MOST_UNREAD_BYTES) return;
        end();
        response.destroy();
      };
      let ahead = Number.NaN;
      const tellClock = (): void => {
        ahead = now() - clock.now();
        send({ type: 'clock', now: now() } satisfies StreamMessage);
      };
      const sendClock = (): void => {
        // Not before it is known, and then when it has changed.
        if (!(Math.abs(now() - clock.now() - ahead) < CLOCK_SLACK_MS)) tellClock();
      };
      sendClock();
      close = open(send);
      if (isOver) close();
      return undefined;
    },
    close(): void {
      for (const end of ends.keys()) end();
    },
  };
};
