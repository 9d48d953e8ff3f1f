import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { parse } from 'yaml';

/** The API server refused a call of the suite. */
export class Refusal extends Error {
  readonly code = 'Refusal';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
  }
}

/** A small client for the suite itself, separate from the client under test. */
export interface Api {
  get<T>(path: string): Promise<T>;
  /** Undefined if the object does not exist. */
  find<T>(path: string): Promise<T | undefined>;
  create<T>(path: string, body: unknown): Promise<T>;
  /** JSON merge patch. */
  merge<T>(path: string, body: unknown): Promise<T>;
  /** Strategic merge patch. */
  patch<T>(path: string, body: unknown): Promise<T>;
  /** JSON patch. */
  edit<T>(path: string, operations: readonly object[]): Promise<T>;
  replace<T>(path: string, body: unknown): Promise<T>;
  /** Resolves with whether the object existed. */
  remove(path: string, options?: unknown): Promise<boolean>;
  close(): Promise<void>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data'?: string } }[];
  users: { user: { token?: string } }[];
}

/** Uses the first cluster and the first user of a kubeconfig. */
export const openApi = async (kubeconfig: string): Promise<Api> => {
  const config = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster) throw new Error(`${kubeconfig} names no cluster`);
  const ca = cluster['certificate-authority-data'];
  const dispatcher = new Agent({
    allowH2: false,
    connections: 32,
    ...(ca && { connect: { ca: Buffer.from(ca, 'base64').toString() } }),
  });
  const call = async <T>(method: string, path: string, body?: unknown, type = 'json'): Promise<T> => {
    const answer = await request(`${cluster.server}${path}`, {
      method: method as 'GET',
      dispatcher,
      headers: {
        'content-type': `application/${type}`,
        ...(user?.token && { authorization: `Bearer ${user.token}` }),
      },
      headersTimeout: 30_000,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Refusal(answer.statusCode, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  };
  const orMissing = async <T>(answer: Promise<T>): Promise<T | undefined> =>
    answer.catch((error: unknown) => {
      if (error instanceof Refusal && error.status === 404) return undefined;
      throw error;
    });
  return {
    get: (path) => call('GET', path),
    find: (path) => orMissing(call('GET', path)),
    create: (path, body) => call('POST', path, body),
    merge: (path, body) => call('PATCH', path, body, 'merge-patch+json'),
    patch: (path, body) => call('PATCH', path, body, 'strategic-merge-patch+json'),
    edit: (path, operations) => call('PATCH', path, operations, 'json-patch+json'),
    replace: (path, body) => call('PUT', path, body),
    remove: async (path, options) => (await orMissing(call('DELETE', path, options))) !== undefined,
    close: () => dispatcher.destroy(),
  };
};
