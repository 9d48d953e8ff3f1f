import { readEvents } from './events.ts';
import { keyHeaders } from './key.ts';
import { text } from './text/index.ts';
import type {
  CommandRequest,
  CommandResult,
  KeyMessage,
  NodeDetails,
  RolloutEvents,
  RolloutRef,
  SessionInfo,
} from './types.ts';

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

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

const fetched = async (path: string, init?: Init): Promise<Response> => {
  let response: Response;
  try {
    response = await fetch(path, { cache: 'no-store', ...init, headers: { ...keyHeaders(), ...init?.headers } });
  } catch {
    throw new RequestError(text.request.noAnswer);
  }
  if (response.status === 401) onRefused();
  if (!response.ok) throw new RequestError(await messageOf(response), response.status);
  return response;
};

const ask = async <T>(path: string, init?: Init): Promise<T> => (await (await fetched(path, init)).json()) as T;

const post = (value: object): Init => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

type Cluster = RolloutRef['cluster'];

/** A path, and what is asked there. What is undefined is not asked. */
const pathWith = (parts: readonly string[], asked: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(asked).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${segment(value)}`],
  );
  return `/api/${parts.map(segment).join('/')}${given.length > 0 ? `?${given.join('&')}` : ''}`;
};

const pathOf = ({ cluster, namespace, kind, name }: RolloutRef, ...part: readonly string[]): string =>
  pathWith(['rollouts', namespace, kind, name, ...part], { cluster });

export const readLabels = (cluster: Cluster): Promise<Record<string, string[]>> =>
  ask(pathWith(['labels'], { cluster }));
export const readLabel = (label: string, cluster: Cluster): Promise<Record<string, string>> =>
  ask(pathWith(['labels'], { label, cluster }));
export const readNode = (ref: RolloutRef, node: string): Promise<NodeDetails> => ask(pathOf(ref, 'nodes', node));
export const readEventsOf = (ref: RolloutRef): Promise<RolloutEvents> => ask(pathOf(ref, 'events'));
export const run = (command: CommandRequest): Promise<CommandResult> => ask('/api/commands', post(command));

export const readSession = (): Promise<SessionInfo> => ask('/api/session');
export const logIn = (token: string): Promise<SessionInfo> => ask('/api/session', post({ token }));
export const exchangeCode = (code: string): Promise<KeyMessage> => ask('/api/session', post({ code }));
export const logOut = async (): Promise<void> => void (await fetched('/api/session', { method: 'DELETE' }));

const RETRY_MS = 2_000;
/** The dashboard says something every 15 s. */
const SILENT_MS = 40_000;

interface Listener<M> {
  message(message: M): void;
  /** Whether the stream delivers. */
  live(isLive: boolean): void;
  /** Why there is no stream. */
  refused?(why: string): void;
}

/** Follows a stream until the returned function is called, and opens it again whenever it ends. */
const follow = <M>(path: string, listener: Listener<M>): (() => void) => {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = new AbortController();
  const read = async (): Promise<void> => {
    let why = '';
    attempt = new AbortController();
    const { signal } = attempt;
    /** A connection that broke without a word, as in sleep, looks open for hours. */
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => attempt.abort(), SILENT_MS);
    };
    wait();
    try {
      const { body } = await fetched(path, { signal });
      if (signal.aborted || !body) throw new RequestError(text.request.noAnswer);
      listener.live(true);
      for await (const data of readEvents(body)) {
        wait();
        listener.message(JSON.parse(data) as M);
      }
    } catch (error) {
      if (error instanceof RequestError && error.status !== undefined) why = error.message;
    }
    clearTimeout(timer);
    if (isOver) return;
    listener.live(false);
    if (why !== '') listener.refused?.(why);
    timer = setTimeout(() => void read(), RETRY_MS);
  };
  void read();
  return () => {
    isOver = true;
    attempt.abort();
    clearTimeout(timer);
  };
};

export const followOverview = <M>(listener: Listener<M>): (() => void) => follow('/api/rollouts', listener);
export const followRollout = <M>(ref: RolloutRef, listener: Listener<M>): (() => void) => follow(pathOf(ref), listener);
