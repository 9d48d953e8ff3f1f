import type { KubeClient, KubeObject, ListOptions, ListResult, Resource } from '../../kube/index.ts';

const PAGE = 500;

/** All objects of a list, read page by page. */
export const listAll = async <T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  where: ListOptions,
): Promise<T[]> => {
  const items: T[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: ListResult<T> = await client.list(resource, { ...where, limit: PAGE, ...(next && { continue: next }) });
    items.push(...page.items);
    next = page.continue;
  }
  return items;
};
