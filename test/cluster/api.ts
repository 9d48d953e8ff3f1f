import { Agent, request } from 'undici';

/** The address of the API server, and credentials. */
export interface Access {
  server: string;
  /** PEM. */
  ca: string;
  token: string;
}

export class ApiError extends Error {
  readonly code = 'ApiRefused';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/** Any object of the API, of which the harness reads only a few fields. */
export type Json = Record<string, unknown>;

/** A small client for the harness itself, separate from the client under test. */
export interface Api {
  get<T = Json>(path: string): Promise<T>;
  post<T = Json>(path: string, body: unknown): Promise<T>;
  /** Strategic merge where the kind knows it. */
  patch<T = Json>(path: string, body: unknown, type?: 'strategic-merge-patch' | 'merge-patch'): Promise<T>;
  /** Server-side apply, forced: creates or updates. */
  apply<T = Json>(path: string, body: unknown): Promise<T>;
  delete<T = Json>(path: string, body?: unknown): Promise<T>;
  text(path: string): Promise<string>;
  close(): Promise<void>;
}

export const createApi = ({ server, ca, token }: Access): Api => {
  const dispatcher = new Agent({ connect: { ca }, allowH2: false, connections: 32 });
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, type?: string) => {
    const answer = await request(`${server}${path}`, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${token}`, 'content-type': type ?? 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headersTimeout: 30_000,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 400)
      throw new ApiError(answer.statusCode, `${method} ${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const json = async <T>(...args: Parameters<typeof call>): Promise<T> => JSON.parse(await call(...args)) as T;
  return {
    get: (path) => json('GET', path),
    post: (path, body) => json('POST', path, body),
    patch: (path, body, type = 'strategic-merge-patch') => json('PATCH', path, body, `application/${type}+json`),
    apply: (path, body) =>
      json('PATCH', `${path}?fieldManager=test-cluster&force=true`, body, 'application/apply-patch+yaml'),
    delete: (path, body) => json('DELETE', path, body),
    text: (path) => call('GET', path),
    close: () => dispatcher.destroy(),
  };
};

/** Undefined where the server answers 404. */
export const orMissing = async <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
