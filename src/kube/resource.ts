import type { KubeObject, Resource } from './types.ts';

/** Ties a resource's address to the type of its objects: `defineResource<Pod>({ group: '', version: 'v1', ... })`. */
export const defineResource = <T extends KubeObject>(resource: Omit<Resource<T>, 'object'>): Resource<T> => resource;

/** `namespace/name`, or `name` for cluster-scoped objects: the key of stores and work queues. */
export const keyOf = (object: KubeObject): string => {
  const { namespace, name = '' } = object.metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
};

export const splitKey = (key: string): { namespace?: string; name: string } => {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};
