import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Agent, request } from 'undici';

/** The credentials of a caller. */
export type Identity = { token: string } | { cert: string; key: string };

export interface Answer {
  status: number;
  /** The message of a Status, else the body. */
  message: string;
  body: Record<string, unknown>;
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** Of a patch: `strategic-merge-patch` by default. */
  patch?: 'merge-patch' | 'json-patch' | 'strategic-merge-patch';
  headers?: Record<string, string>;
}

export interface Caller {
  call(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** Calls the API server and returns every response as it is. */
export const createCaller = ({ server, ca }: { server: string; ca: string }, identity: Identity): Caller => {
  const connect = 'token' in identity ? { ca } : { ca, ...identity };
  const dispatcher = new Agent({ connect, allowH2: false });
  const authorization = 'token' in identity ? { authorization: `Bearer ${identity.token}` } : {};
  return {
    async call({ method, path, body, patch = 'strategic-merge-patch', headers }) {
      const answer = await request(`${server}${path}`, {
        method,
        dispatcher,
        headers: {
          ...authorization,
          'content-type': method === 'PATCH' ? `application/${patch}+json` : 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headersTimeout: 30_000,
      });
      const text = await answer.body.text();
      const parsed = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
      const message = parsed.kind === 'Status' && typeof parsed.message === 'string' ? parsed.message : text;
      return { status: answer.statusCode, message, body: parsed };
    },
    close: () => dispatcher.destroy(),
  };
};

export interface Attempt {
  what: string;
  call: Call;
  /** What the refusal must say; 403 unless `status` says otherwise. */
  says: RegExp;
  status?: number;
}

/** Tries everything, prints what was tried with how it was answered, and fails with the whole list of what went wrong. */
export const tryAll = async (t: TestContext, caller: Caller, list: readonly Attempt[]): Promise<void> => {
  const wrong: string[] = [];
  for (const { what, call, says, status = 403 } of list) {
    const answer = await caller.call(call);
    const line = `${what.padEnd(52)} ${answer.status}  ${answer.message.slice(0, 1000)}`;
    t.diagnostic(line.slice(0, 320));
    if (answer.status !== status || !says.test(answer.message)) wrong.push(`${line}\n    wanted ${status} ${says}`);
  }
  assert.deepEqual(wrong, []);
};
