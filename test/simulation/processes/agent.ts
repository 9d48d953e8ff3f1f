import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { openDecisionStore } from '../../../src/agent/decisions/index.ts';
import { type Connection, createApi, defaultLimits, type Handler } from '../../../src/agent/http/index.ts';
import { createAgent } from '../../../src/agent/index.ts';
import { createSafeCheck } from '../../../src/agent/safe-check/index.ts';
import { tcpSite } from '../../../src/http/index.ts';
import { type ClockSkew, createEventRecorder, type KubeClient } from '../../../src/kube/index.ts';
import type { Env } from '../../../src/runtime/index.ts';
import type { Mount } from './disk.ts';

export interface AgentParts {
  client: KubeClient;
  env: Env;
  node: string;
  disk: Mount;
  serverTime: ClockSkew;
  /** Called when the agent accepts requests. */
  serves: (handler: Handler) => void;
}

const STATE = '/var/lib/edgeset-agent';
const PORT = 10267;
const HOST = `127.0.0.1:${PORT}`;
const SITE = tcpSite('http', PORT, ['127.0.0.1']);

/** The agent as it ships, without sockets and files: its parts are wired as in its process. */
export const runAgent = async (
  { client, env, node, disk, serverTime, serves }: AgentParts,
  signal: AbortSignal,
): Promise<void> => {
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/agent',
    reportingInstance: node,
  });
  const alone = { held: () => Promise.resolve(true), release: () => Promise.resolve() };
  const decisions = await openDecisionStore({
    dir: STATE,
    env,
    disk: { files: disk.decisions, lock: () => Promise.resolve(alone) },
  });
  const agent = createAgent({
    client,
    env,
    events,
    node,
    stateDir: STATE,
    stateFiles: disk.state,
    timeZone: 'UTC',
    safe: createSafeCheck({ check: undefined, env }),
    decisions,
    aheadMs: () => serverTime.aheadMs(),
  });
  const { handler } = createApi({
    backend: agent,
    env,
    limits: defaultLimits,
    auth: { allowedUids: new Set([0]), tokens: undefined, clientCertificates: false },
    page: () => Promise.resolve([]),
    version: 'simulation',
    onResponse: () => undefined,
  });
  serves(handler);
  await Promise.all([events.run(signal), agent.run(signal)]);
};

export interface Request {
  method: 'GET' | 'POST';
  path: string;
  /** JSON. */
  body?: string;
}

export interface Answer {
  status: number;
  text: string;
}

/** Passes a request to the agent as if root had sent it over a socket. `waits`: whether the caller still waits. */
export const request = (handler: Handler, { method, path, body }: Request, waits: () => boolean): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const message = new IncomingMessage(new Socket());
    message.method = method;
    message.url = path;
    message.headers = { host: HOST };
    if (body !== undefined) {
      message.headers['content-type'] = 'application/json';
      message.headers['content-length'] = String(Buffer.byteLength(body));
      message.push(body);
    }
    message.push(null);
    message.complete = true;
    const response = new ServerResponse(message);
    Object.assign(response, {
      end(text: string | undefined): ServerResponse {
        resolve({ status: response.statusCode, text: text ?? '' });
        return response;
      },
    });
    const uid = (): Promise<number | undefined> => Promise.resolve(waits() ? 0 : undefined);
    const { ratePerCaller: rate, connectionsPerCaller: connections } = defaultLimits;
    const connection: Connection = {
      peer: { via: 'loopback', address: '', uid: uid(), recheck: uid },
      pending: 0,
      account: () => Promise.resolve({ key: 'uid:0', pool: 'allowed', rate, connections }),
    };
    handler(message, response, connection, SITE).catch(reject);
  });
