import { isKubeError, KubeError } from './errors.ts';
import type { KubeClient, KubeObject, ListOptions, ListResult, Resource } from './types.ts';

/**
 * Lists page by page, with one page in memory at a time. When a page fails it throws, and the pages so far are
 * incomplete. `pageSize` in objects, default 500; pages of objects so large that the client refuses to read them are made
 * smaller.
 */
export async function* pagesOf<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  pageSize = 500,
): AsyncGenerator<ListResult<T>, void, undefined> {
  let next: string | undefined;
  let limit = pageSize;
  for (;;) {
    let page: ListResult<T>;
    try {
      page = await client.list(resource, { ...options, limit, ...(next === undefined ? {} : { continue: next }) });
    } catch (error) {
      if (!isKubeError(error, 'TooLarge') || limit === 1) throw error;
      // A few large objects stand beside many small ones: the next pages grow again.
      limit = Math.max(1, Math.floor(limit / 4));
      continue;
    }
    yield page;
    limit = Math.min(pageSize, limit * 2);
    if (page.continue === undefined) return;
    if (page.continue === next) throw new KubeError('Malformed', 'the continue token repeats itself');
    next = page.continue;
  }
}

/** All objects of a list, read page by page. */
export const listAll = async <T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'>,
): Promise<T[]> => {
  const items: T[] = [];
  for await (const page of pagesOf(client, resource, options)) items.push(...page.items);
  return items;
};
