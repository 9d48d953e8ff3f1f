import type { ServerResponse } from 'node:http';
import { failure, type HttpResponse } from '../../http/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { AgentBackend } from '../types.ts';
import type { Limits } from './limits.ts';
import type { StreamResponse } from './route.ts';

export interface EventStreams {
  open(backend: AgentBackend): HttpResponse | StreamResponse;
  readonly size: number;
  /** Ends all of them. */
  close(): void;
}

/** Changes come in bursts, as when a pod goes through several states within a second: one event covers them all. */
const DEBOUNCE_MS = 100;
const RECONNECT_MS = 2_000;

/** The state of the device as server-sent events. */
export const createEventStreams = ({ clock, log }: Pick<Env, 'clock' | 'log'>, limits: Limits): EventStreams => {
  const ends = new Set<() => void>();

  const stateOf = (backend: AgentBackend): string =>
    JSON.stringify({ device: backend.device(), updates: backend.updates() });

  const run = (backend: AgentBackend, response: ServerResponse, first: string): void => {
    let id = 0;
    let pending: { cancel(): void } | undefined;
    let beat: { cancel(): void };
    const send = (state: string): void => {
      id += 1;
      response.write(`id: ${id}\nevent: state\ndata: ${state}\n\n`);
    };
    const sendState = (): void => {
      pending = undefined;
      // A client that does not read must not fill the agent's memory. It reconnects and gets the then current state.
      if (response.writableLength > limits.unreadBytes) {
        end();
        response.destroy();
        return;
      }
      try {
        send(stateOf(backend));
      } catch (error) {
        log.error('closing an event stream: failed to read the state', { error });
        end();
      }
    };
    const heartbeat = (): void => {
      response.write(': still here\n\n');
      beat = clock.timer(limits.heartbeatMs, heartbeat);
    };
    const unsubscribe = backend.onChange(() => {
      pending ??= clock.timer(DEBOUNCE_MS, sendState);
    });
    const end = (): void => {
      if (!ends.delete(end)) return;
      unsubscribe();
      pending?.cancel();
      beat.cancel();
      expiry.cancel();
      response.end();
    };
    const expiry = clock.timer(limits.streamMs, end);
    beat = clock.timer(limits.heartbeatMs, heartbeat);
    ends.add(end);
    response.on('close', end);
    response.on('error', end);
    response.write(`retry: ${RECONNECT_MS}\n`);
    send(first);
  };

  return {
    get size() {
      return ends.size;
    },
    open(backend) {
      if (ends.size >= limits.streams)
        return failure(429, 'too many open event streams', { cause: 'TooManyStreams', retryAfterSeconds: 5 });
      const first = stateOf(backend);
      return {
        stream(response, head) {
          response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
          if (head) response.end();
          else run(backend, response, first);
        },
      };
    },
    close() {
      for (const end of ends) end();
    },
  };
};
