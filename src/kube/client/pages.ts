import { KubeError } from './errors.ts';
import type { KubeClient, KubeObject, ListOptions, ListResult, Resource } from './types.ts';

/**
 * Lists page by page, with one page in memory at a time. When a page fails it throws, and the pages so far are
 * incomplete. `pageSize` in objects, default 500.
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
    if (page.continue === next) throw new KubeError('Malformed', 'the continue token repeats itself');
    next = page.continue;
  }
}
