import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dial, type RawAnswer, sendRaw } from '../../../src/agent/http/testing/index.ts';
import type { Target } from './target.ts';

/** The uid of nobody, who has no rights. */
export const NOBODY = 65_534;
export const unlessRoot: string | false = process.getuid?.() === 0 ? false : 'only root can be another user';

export const addressOf = ({ agent }: Pick<Target, 'agent'>): string => `127.0.0.1:${agent.port}`;

export interface Forged {
  method?: string;
  target: string;
  /** Default: the agent's own. */
  host?: string;
  headers?: readonly string[];
  body?: string;
}

/** The bytes of a forged request. */
export const forge = (victim: Target, { method = 'POST', target, host, headers = [], body = '' }: Forged): string =>
  [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host ?? addressOf(victim)}`,
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');

export const attack = (victim: Target, request: Forged): Promise<RawAnswer[]> =>
  sendRaw(addressOf(victim), forge(victim, request));

/** The agent's cause of a refusal; undefined without one. */
export const causeOf = ({ body }: RawAnswer): string | undefined => {
  try {
    const status = JSON.parse(body) as { reason?: string; details?: { causes?: { reason: string }[] } };
    return status.details?.causes?.[0]?.reason ?? status.reason;
  } catch {
    // The YurtHub routes respond in plain text.
    return undefined;
  }
};

/** Runs a script as another user; resolves with the lines that it printed. */
export const scriptAs = async (uid: number, script: string): Promise<string[]> => {
  const child = spawn(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the attacker's process failed: ${Buffer.concat(errors).toString('utf8')}`);
  return Buffer.concat(out).toString('utf8').trim().split('\n');
};

/** Sends a few bytes per second and never completes; resolves with the response once the agent closes the connection. */
export const dribble = (victim: Target, start: string, more: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = dial(addressOf(victim));
    const chunks: Buffer[] = [];
    socket.write(start);
    const timer = setInterval(() => socket.write(more), 500);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
  });
