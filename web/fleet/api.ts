import { text } from './text/index.ts';
import type { CommandRequest, CommandResult, NodeDetails, SessionInfo } from './types.ts';

const segment = encodeURIComponent;

/** A request that failed, in words for the reader. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** Undefined: there was no response. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

const messageOf = async (response: Response): Promise<string> => {
  const body: unknown = await response.json().catch(() => undefined);
  const has = typeof body === 'object' && body !== null && 'message' in body;
  return has && typeof body.message === 'string' ? body.message : text.request.failed(response.status);
};

let onRefused = (): void => undefined;
/** Called when the dashboard no longer knows who asks. */
export const whenRefused = (act: () => void): void => {
  onRefused = act;
};

const fetched = async (path: string, init?: RequestInit): Promise<Response> => {
  let response: Response;
  try {
    response = await fetch(path, { cache: 'no-store', ...init });
  } catch {
    throw new RequestError(text.request.noAnswer);
  }
  if (response.status === 401) onRefused();
  if (!response.ok) throw new RequestError(await messageOf(response), response.status);
  return response;
};

const ask = async <T>(path: string, init?: RequestInit): Promise<T> => (await (await fetched(path, init)).json()) as T;

const post = (value: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

export interface RolloutRef {
  namespace: string;
  kind: string;
  name: string;
}

const pathOf = ({ namespace, kind, name }: RolloutRef): string =>
  `/api/rollouts/${segment(namespace)}/${segment(kind)}/${segment(name)}`;

export const readLabels = (): Promise<string[]> => ask('/api/labels');
export const readLabel = (key: string): Promise<Record<string, string>> => ask(`/api/labels?label=${segment(key)}`);
export const readNode = (ref: RolloutRef, node: string): Promise<NodeDetails> =>
  ask(`${pathOf(ref)}/nodes/${segment(node)}`);
export const run = (command: CommandRequest): Promise<CommandResult> => ask('/api/commands', post(command));

export const readSession = (): Promise<SessionInfo> => ask('/api/session');
export const logIn = (token: string): Promise<SessionInfo> => ask('/api/session', post({ token }));
export const logOut = async (): Promise<void> => void (await fetched('/api/session', { method: 'DELETE' }));

const RETRY_MS = 2_000;

interface Listener<M> {
  message(message: M): void;
  /** Whether the stream delivers. */
  live(isLive: boolean): void;
  /** Why there is no stream. */
  refused?(why: string): void;
}

/** An EventSource doesn't tell why it was refused. */
const whyRefused = async (path: string): Promise<string> => {
  const stop = new AbortController();
  try {
    await fetched(path, { signal: stop.signal });
    return '';
  } catch (error) {
    return error instanceof RequestError && error.status !== undefined ? error.message : '';
  } finally {
    stop.abort();
  }
};

/** Follows a stream until the returned function is called. */
const follow = <M>(path: string, listener: Listener<M>): (() => void) => {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const askWhy = async (): Promise<void> => {
    const why = await whyRefused(path);
    if (!isOver && why !== '') listener.refused?.(why);
  };
  const open = (): void => {
    source = new EventSource(path);
    source.addEventListener('open', () => listener.live(true));
    source.addEventListener('message', (event: MessageEvent<string>) => listener.message(JSON.parse(event.data) as M));
    source.addEventListener('error', () => {
      listener.live(false);
      // It reconnects by itself after a lost connection, but not after a refusal.
      if (source.readyState !== EventSource.CLOSED) return;
      retry = setTimeout(open, RETRY_MS);
      void askWhy();
    });
  };
  open();
  return () => {
    isOver = true;
    clearTimeout(retry);
    source.close();
  };
};

export const followOverview = <M>(listener: Listener<M>): (() => void) => follow('/api/rollouts', listener);
export const followRollout = <M>(ref: RolloutRef, listener: Listener<M>): (() => void) => follow(pathOf(ref), listener);
