import type { Choice, DeviceStatus, HistoryEntry, Update } from './types.ts';

const BASE = '/edgeset.io/v1';
const DEADLINE_MS = 8_000;

/** The result of a request. */
export type Outcome =
  | { kind: 'ok' }
  /** The agent refused. `cause`: its code of the rule that refused; empty without one. */
  | { kind: 'refused'; status: number; cause: string }
  /** No valid response: the outcome is unknown. */
  | { kind: 'silent' };

export type Read<T> = { kind: 'ok'; value: T } | Exclude<Outcome, { kind: 'ok' }>;

interface Status {
  details?: { causes?: { reason?: string }[] };
}

/** The agent's errors are Kubernetes Status objects; the YurtHub routes respond in plain text. */
const causeOf = async (response: Response): Promise<string> => {
  if (!(response.headers.get('content-type') ?? '').includes('json')) return '';
  const status = (await response.json()) as Status | null;
  return status?.details?.causes?.[0]?.reason ?? '';
};

const send = async <T>(path: string, read: (response: Response) => Promise<T>, init: RequestInit): Promise<Read<T>> => {
  try {
    const response = await fetch(path, { ...init, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE_MS) });
    if (response.ok) return { kind: 'ok', value: await read(response) };
    return { kind: 'refused', status: response.status, cause: await causeOf(response) };
  } catch {
    // Interrupted, timed out or incomplete: it makes no difference to the reader.
    return { kind: 'silent' };
  }
};

const get = <T>(path: string): Promise<Read<T>> =>
  send(`${BASE}/${path}`, async (response) => (await response.json()) as T, { method: 'GET' });

const post = (path: string, body?: object): Promise<Outcome> =>
  send(path, (response) => response.text(), {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

const segment = encodeURIComponent;

export const readDevice = (): Promise<Read<DeviceStatus>> => get('device');
export const readUpdates = (): Promise<Read<{ items: Update[] }>> => get('updates');
export const readHistory = (): Promise<Read<{ items: HistoryEntry[] }>> => get('history');

/** The request names the revision that the owner saw: the agent refuses it if the target has changed. */
export const decide = (update: Update, revision: string, { choice, ...rest }: Choice): Promise<Outcome> =>
  post(`${BASE}/updates/${segment(update.namespace)}/${segment(update.daemonSet)}/decision`, {
    revision,
    decision: choice,
    ...rest,
  });

export const pullImages = (namespace: string, pod: string): Promise<Outcome> =>
  post(`/openyurt.io/v1/namespaces/${segment(namespace)}/pods/${segment(pod)}/imagepull`);

export interface State {
  device: DeviceStatus;
  updates: Update[];
}

const RETRY_MS = 2_000;

/**
 * Follows the agent's events. An interruption is normal: the agent ends each stream after some minutes. EventSource reconnects
 * by itself after a lost connection, but gives up after an invalid response; then a new one is created.
 */
export const follow = (onState: (state: State) => void, onBreak: () => void): void => {
  const open = (): void => {
    const source = new EventSource(`${BASE}/events`);
    source.addEventListener('state', (event: MessageEvent<string>) => onState(JSON.parse(event.data) as State));
    source.addEventListener('error', () => {
      onBreak();
      if (source.readyState !== EventSource.CLOSED) return;
      source.close();
      setTimeout(open, RETRY_MS);
    });
  };
  open();
};
