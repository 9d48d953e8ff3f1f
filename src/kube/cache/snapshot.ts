import type { Env } from '../../runtime/index.ts';
import { pagesOf } from '../client/pages.ts';
import type { KubeClient, KubeObject, Resource, WatchEvent } from '../client/types.ts';
import type { Staging } from './reflector-cache.ts';

export interface Scope<T extends KubeObject> {
  client: Pick<KubeClient, 'list' | 'watch'>;
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export const selection = <T extends KubeObject>({ namespace, labelSelector, fieldSelector }: Scope<T>) => ({
  ...(namespace === undefined ? {} : { namespace }),
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(fieldSelector === undefined ? {} : { fieldSelector }),
});

/** Pages through the present state. Resolves with its resourceVersion; a list that breaks off rejects as a whole. */
export const listPages = async <T extends KubeObject>(
  scope: Scope<T>,
  pageSize: number,
  staging: Staging<T>,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<string> => {
  let resourceVersion = '';
  for await (const page of pagesOf(scope.client, scope.resource, { ...selection(scope), signal }, pageSize)) {
    onActivity();
    for (const item of page.items) staging.put(item);
    resourceVersion = page.resourceVersion;
  }
  return resourceVersion;
};

/** The server does not stream initial events although it did not say so. */
export class NotStreamed extends Error {}

/**
 * Reads a watch-list's initial events. Resolves with the resourceVersion of their end, with the stream ready for what
 * follows. Rejects with `NotStreamed` when the stream ends, or goes silent for `silenceMs`, before that.
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
    if (left <= 0) options.onSilence(new NotStreamed(`no initial event for ${options.silenceMs} ms`));
    else timer = env.clock.timer(left, check);
  };
  let timer = env.clock.timer(options.silenceMs, check);
  try {
    for (;;) {
      const next = await stream.next();
      if (next.done) throw new NotStreamed('the stream ended before its initial events did');
      const event = next.value;
      lastAt = env.clock.now();
      options.onActivity();
      if (event.type === 'BOOKMARK') {
        if (event.initialEventsEnd) return event.resourceVersion;
      } else if (event.type === 'DELETED') staging.drop(event.object);
      else staging.put(event.object);
    }
  } finally {
    timer.cancel();
  }
};
