import { KubeError } from './errors.ts';
import type { KubeClient, KubeObject, ListOptions, ListResult, Resource } from './types.ts';

/**
 * The present state, page by page: lists of any size, of which only one page is in memory. One that breaks off throws, and
 * what it gave until then is not the whole. `pageSize` in objects, default 500.
 */
export async function* pagesOf<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  pageSize = 500,
): AsyncGenerator<ListResult<T>, void, undefined> {
  let next: string | undefined;
  for (;;) {
    const page = await client.list(resource, {
      ...options,
      limit: pageSize,
      ...(next === undefined ? {} : { continue: next }),
    });
    yield page;
    if (page.continue === undefined) return;
    if (page.continue === next) throw new KubeError('Malformed', 'the list goes on with the page that it just gave');
    next = page.continue;
  }
}
