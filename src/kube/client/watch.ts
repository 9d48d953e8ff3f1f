import { startCallTimeout } from '../transport/call-timeout.ts';
import { RoundTripError } from '../transport/round-trip.ts';
import { KubeError } from './errors.ts';
import { createLineDecoder } from './line-decoder.ts';
import type { ResolvedClientOptions } from './options.ts';
import type { Requester } from './requester.ts';
import { acceptOf, collectionPath, resourceLabel, toQuery } from './resource.ts';
import { errorFromStatus, isRecord } from './status.ts';
import type { KubeObject, Resource, WatchEvent, WatchOptions } from './types.ts';

const MIN_STREAM_SECONDS = 300;
/** The server ends a stream at its timeout; one that lives longer is broken. */
const GRACE_MS = 30_000;

const malformed = (what: string): KubeError => new KubeError('Malformed', `watch: ${what}`);

/** Parses one line of a watch. Throws the error that an ERROR event carries, and `Malformed` for anything unexpected. */
const parseWatchLine = <T extends KubeObject>(line: string, parse: (text: string) => unknown): WatchEvent<T> => {
  let event: unknown;
  try {
    event = parse(line);
  } catch (cause) {
    throw new KubeError('Malformed', 'watch: a line is not JSON', { cause });
  }
  if (!isRecord(event) || !isRecord(event.object)) throw malformed('an event without an object');
  const { type, object } = event;
  if (type === 'ERROR') throw errorFromStatus(object, { status: 0, write: false, context: 'watch' });
  const metadata = isRecord(object.metadata) ? object.metadata : {};
  if (typeof metadata.resourceVersion !== 'string' || metadata.resourceVersion === '')
    throw malformed('an event without a resourceVersion');
  switch (type) {
    case 'BOOKMARK': {
      const annotations = isRecord(metadata.annotations) ? metadata.annotations : {};
      const initialEventsEnd = annotations['k8s.io/initial-events-end'] === 'true';
      return { type, resourceVersion: metadata.resourceVersion, initialEventsEnd };
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (typeof metadata.name !== 'string' || metadata.name === '') throw malformed('an object without a name');
      // The only place that trusts the requested resource for the type of its objects.
      return { type, object: object as T };
    default:
      throw malformed(`an event of the unknown type ${JSON.stringify(type)}`);
  }
};

/** Opens a watch and yields its events; see `KubeClient.watch`. */
export async function* openWatch<T extends KubeObject>(
  requester: Requester,
  options: ResolvedClientOptions,
  resource: Resource<T>,
  watch: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { env } = options;
  const timeoutSeconds = watch.timeoutSeconds ?? MIN_STREAM_SECONDS + Math.floor(env.random() * MIN_STREAM_SECONDS);
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds,
    labelSelector: watch.labelSelector,
    fieldSelector: watch.fieldSelector,
    resourceVersion: watch.resourceVersion,
    ...(watch.sendInitialEvents ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
  };
  const path = `${collectionPath(resource, watch.namespace)}${toQuery(query)}`;
  const plural = resourceLabel(resource);
  const timeout = startCallTimeout(env.clock, timeoutSeconds * 1000 + GRACE_MS, watch.signal);
  const stalled = (what: string): void => timeout.abort(new KubeError('Timeout', `watch of ${plural}: ${what}`));
  const openTimer = env.clock.timer(options.timeoutMs, () => stalled(`no response within ${options.timeoutMs} ms`));
  const idleMs = options.watchIdleMs * (1 + env.random() / 5);
  let lastByteAt = env.clock.now();
  const checkIdle = (): void => {
    const left = lastByteAt + idleMs - env.clock.now();
    if (left <= 0) stalled(`nothing received for ${Math.round(idleMs)} ms`);
    else idleTimer = env.clock.timer(left, checkIdle);
  };
  let idleTimer = env.clock.timer(idleMs, checkIdle);
  try {
    const accept = acceptOf(resource, 'PartialObjectMetadata');
    const response = await requester.stream({ verb: 'watch', method: 'GET', path, resource: plural, accept }, timeout);
    openTimer.cancel();
    lastByteAt = env.clock.now();
    const type = response.headers['content-type'];
    if (typeof type === 'string' && !type.includes('json')) {
      response.cancel();
      throw malformed(`the response is ${type}, not JSON`);
    }
    watch.onOpen?.();
    const decoder = createLineDecoder(options.maxLineBytes);
    for await (const chunk of response.body) {
      lastByteAt = env.clock.now();
      for (const line of decoder.push(chunk)) if (line.trim() !== '') yield parseWatchLine<T>(line, options.parse);
    }
    if (decoder.pendingBytes > 0)
      throw new KubeError('Transport', `watch of ${plural}: the stream ended inside a line`);
  } catch (error) {
    if (timeout.expired)
      throw new KubeError('Timeout', `watch of ${plural}: the server did not end it at its timeout`, { cause: error });
    if (timeout.signal.aborted) throw timeout.signal.reason;
    if (error instanceof RoundTripError)
      throw new KubeError('Transport', `watch of ${plural}: ${error.message}`, { cause: error.cause });
    throw error;
  } finally {
    openTimer.cancel();
    idleTimer.cancel();
    timeout.release();
  }
}
