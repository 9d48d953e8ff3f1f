import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer, startHttpsServer } from '../../../embedded/index.ts';
import { systemClock } from '../../../src/runtime/index.ts';
import { startCluster } from '../../cluster/index.ts';

/** The result of a kubectl command or an API call. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A kubectl command line, and its standard input. */
export type Command = string | readonly [command: string, stdin: string];

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  /** For watches: how many lines to read before closing. */
  readonly lines?: number;
  /** A read is repeated until its answer has this text. */
  readonly until?: string;
}

/** One of the two servers that are compared. */
export interface ParityServer {
  readonly name: string;
  kubectl(command: string, stdin?: string): Promise<Outcome>;
  call(spec: ApiCall): Promise<Outcome>;
  stop(): Promise<void>;
}

const COMMAND_DEADLINE_MS = 30_000;

const run = (args: readonly string[], env: NodeJS.ProcessEnv, stdin: string): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn('kubectl', args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_DEADLINE_MS);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, out, err });
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
  });

/** Splits a command line at spaces outside of quotes. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

export const runKubectl = (command: string, env: NodeJS.ProcessEnv, stdin = ''): Promise<Outcome> =>
  run(wordsOf(command), env, stdin);

interface Access {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
}

/** One warning a line; the real server warns of the keys of a map in random order. */
const warningsOf = (header: string | undefined): string =>
  [...(header ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)]
    .map(([, quoted = '""']) => quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
    .toSorted()
    .join('\n');

const callOf = (access: Access, agent: Agent, spec: ApiCall): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const { method, path, body, accept = 'application/json', lines } = spec;
    const type = spec.type ?? 'application/json';
    const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = request(
      new URL(path, access.server),
      {
        method,
        agent,
        ca: access.ca,
        headers: {
          authorization: `Bearer ${access.token}`,
          accept,
          ...(content === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(content) }),
        },
      },
      (response) => {
        let out = '';
        const done = (): void => {
          clearTimeout(timer);
          const kept = lines === undefined ? out : out.split('\n').slice(0, lines).join('\n');
          resolve({ code: response.statusCode ?? 0, out: kept, err: warningsOf(response.headers.warning) });
        };
        const timer = setTimeout(() => {
          done();
          response.destroy();
        }, COMMAND_DEADLINE_MS / 3);
        response.setEncoding('utf8').on('data', (text: string) => {
          out += text;
          if (lines === undefined || out.split('\n').length <= lines) return;
          done();
          response.destroy();
        });
        response.once('end', done);
        response.once('error', () => undefined);
      },
    );
    sent.once('error', reject);
    sent.end(content);
  });

const createParityServer = async (
  name: string,
  access: Access,
  kubeconfig: string,
  end: () => Promise<void>,
): Promise<ParityServer> => {
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-parity-'));
  const file = join(dir, 'kubeconfig');
  await writeFile(file, kubeconfig, { mode: 0o600 });
  const agent = new Agent({ keepAlive: false });
  const env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: file };
  return {
    name,
    kubectl: (command, stdin) => runKubectl(command, env, stdin),
    call: (spec) => callOf(access, agent, spec),
    async stop() {
      agent.destroy();
      await end();
      await rm(dir, { recursive: true, force: true });
    },
  };
};

const configOf = ({ server, ca, token }: Access): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'parity',
    clusters: [
      { name: 'parity', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'parity', user: { token } }],
    contexts: [{ name: 'parity', context: { cluster: 'parity', user: 'parity' } }],
  });

/** A real API server with paused controllers, so that only its own behaviour shows. */
export const startRealServer = async (): Promise<ParityServer> => {
  const cluster = await startCluster();
  const { plane } = cluster;
  // By now, the namespaces have default service accounts.
  await cluster.createNamespace('settled');
  const pausable = ['kube-controller-manager', 'daemonset-controller', 'kube-scheduler', 'kwok'] as const;
  for (const name of pausable) plane.programs[name].pause();
  return createParityServer('real', plane.access, configOf(plane.access), async () => {
    for (const name of pausable) plane.programs[name].resume();
    await cluster.stop();
  });
};

export const startEmbeddedServer = async (): Promise<ParityServer> => {
  const apiServer = createApiServer({ clock: systemClock, random: Math.random });
  const server = await startHttpsServer({ apiServer, wallClock: systemClock });
  const access = { server: server.server, ca: server.certificateAuthority, token: server.token };
  return createParityServer('embedded', access, server.kubeconfig(), () => server.stop());
};
