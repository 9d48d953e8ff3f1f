import type { Env } from '../../runtime/index.ts';
import { pagesOf } from '../client/pages.ts';
import { keyOf } from '../client/resource.ts';
import type { KubeClient, KubeObject, Resource, WatchEvent } from '../client/types.ts';
import type { Staging } from './reflector-cache.ts';

/** The objects to cache. */
export interface Selection<T extends KubeObject> {
  client: Pick<KubeClient, 'list' | 'watch'>;
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export const selectors = <T extends KubeObject>({ namespace, labelSelector, fieldSelector }: Selection<T>) => ({
  ...(namespace === undefined ? {} : { namespace }),
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(fieldSelector === undefined ? {} : { fieldSelector }),
});

/** Reads a paged list. Resolves with its resourceVersion; rejects if any page fails. */
export const listPages = async <T extends KubeObject>(
  from: Selection<T>,
  pageSize: number,
  staging: Staging<T>,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<string> => {
  let resourceVersion = '';
  for await (const page of pagesOf(from.client, from.resource, { ...selectors(from), signal }, pageSize)) {
    onActivity();
    for (const item of page.items) staging.put(item);
    resourceVersion = page.resourceVersion;
  }
  return resourceVersion;
};

/** The server refused to stream the list, ignored the request for its initial events, or broke off among them. */
export class NotStreamedError extends Error {
  override readonly name = 'NotStreamedError';
}

/**
 * Reads the initial events of a streamed list. Resolves with the resourceVersion of the bookmark that ends them; the
 * stream then continues with changes. Rejects with `NotStreamedError` when the stream ends early or is silent for
 * `silenceMs`.
 */
export const readInitialEvents = async <T extends KubeObject>(
  env: Env,
  stream: AsyncIterator<WatchEvent<T>>,
  staging: Staging<T>,
  options: { silenceMs: number; onSilence: (reason: Error) => void; onActivity: () => void },
): Promise<string> => {
  let lastAt = env.clock.now();
  const check = (): void => {
    const left = lastAt + options.silenceMs - env.clock.now();
    if (left <= 0) options.onSilence(new NotStreamedError(`no initial event for ${options.silenceMs} ms`));
    else timer = env.clock.timer(left, check);
  };
  let timer = env.clock.timer(options.silenceMs, check);
  try {
    for (;;) {
      const next = await stream.next();
      if (next.done) throw new NotStreamedError('the stream ended before the end of its initial events');
      const event = next.value;
      lastAt = env.clock.now();
      options.onActivity();
      if (event.type === 'BOOKMARK') {
        if (event.initialEventsEnd) return event.resourceVersion;
      } else if (event.type === 'DELETED') staging.drop(keyOf(event.object));
      else staging.put(event.object);
    }
  } finally {
    timer.cancel();
  }
};
