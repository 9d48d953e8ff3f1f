import { KubeError } from './errors.ts';
import type { KubeObject, ObjectRef, Resource } from './types.ts';

/** Combines a resource's address with the type of its objects: `defineResource<Pod>({ group: '', version: 'v1', ... })`. */
export const defineResource = <T extends KubeObject>(resource: Omit<Resource<T>, 'object'>): Resource<T> => resource;

/** The same objects without spec, status and data, which the API server then leaves out of its responses. */
export const metadataOf = (resource: Resource): Resource => ({ ...resource, metadataOnly: true });

/** What a read of the resource accepts; undefined: objects as JSON. */
export const acceptOf = ({ metadataOnly }: Pick<Resource, 'metadataOnly'>, kind: string): string | undefined =>
  metadataOnly && `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

/** Plural with the group after a dot, as in CRD names: for logs and metrics. */
export const resourceLabel = <T extends KubeObject>({ group, plural }: Resource<T>): string =>
  group === '' ? plural : `${plural}.${group}`;

/** `namespace/name`, or `name` for cluster-scoped objects: the key of stores and work queues. */
export const keyOf = (object: KubeObject): string => {
  const { namespace, name = '' } = object.metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
};

export const splitKey = (key: string): { namespace?: string; name: string } => {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

type Query = Record<string, string | number | boolean | undefined>;

const segment = (field: string, value: string): string => {
  // '.' and '..' survive percent-encoding and would change the path.
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value))
    throw new KubeError('BadRequest', `${field} ${JSON.stringify(value)} cannot be part of a URL path`);
  return encodeURIComponent(value);
};

export const toQuery = (query: Query): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()}`;
};

/** Path of the collection; without a namespace, across all namespaces. */
export const collectionPath = <T extends KubeObject>(resource: Resource<T>, namespace?: string): string => {
  const base = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  if (namespace === undefined || namespace === '') return `${base}/${resource.plural}`;
  if (!resource.namespaced)
    throw new KubeError('BadRequest', `${resource.plural} are cluster-scoped: omit the namespace`);
  return `${base}/namespaces/${segment('namespace', namespace)}/${resource.plural}`;
};

/** The namespace in a path; empty for cluster-scoped objects and for all namespaces. */
export const namespaceOf = (path: string): string => /\/namespaces\/([^/?]+)\//.exec(path)?.[1] ?? '';

/** Path for creating objects: like `collectionPath`, but a namespaced resource requires its namespace. */
export const createPath = <T extends KubeObject>(resource: Resource<T>, namespace: string | undefined): string => {
  if (resource.namespaced && !namespace)
    throw new KubeError('BadRequest', `${resource.plural} are namespaced: set metadata.namespace`);
  return collectionPath(resource, resource.namespaced ? namespace : undefined);
};

export const objectPath = <T extends KubeObject>(
  resource: Resource<T>,
  ref: ObjectRef,
  subresource?: string,
): string => {
  if (resource.namespaced && !ref.namespace)
    throw new KubeError('BadRequest', `${resource.plural} are namespaced: set the namespace of ${ref.name}`);
  const base = collectionPath(resource, resource.namespaced ? ref.namespace : undefined);
  const tail = subresource === undefined ? '' : `/${segment('subresource', subresource)}`;
  return `${base}/${segment('name', ref.name)}${tail}`;
};
