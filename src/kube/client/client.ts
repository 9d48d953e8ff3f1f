import type { ClusterConfig } from '../config/cluster-config.ts';
import { createTransport } from '../transport/transport.ts';
import { KubeError } from './errors.ts';
import { type ClientOptions, resolveClientOptions } from './options.ts';
import { createRequester } from './requester.ts';
import { acceptOf, collectionPath, createPath, objectPath, resourceLabel, toQuery } from './resource.ts';
import { isRecord } from './status.ts';
import type {
  CreateOptions,
  DeleteOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectRef,
  PatchOptions,
  PatchType,
  Resource,
  WriteOptions,
} from './types.ts';
import { openWatch } from './watch.ts';

const patchContentType: Record<PatchType, string> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  // JSON is YAML.
  apply: 'application/apply-patch+yaml',
};

const writeQuery = ({ fieldManager, dryRun, fieldValidation }: WriteOptions): string =>
  toQuery({ fieldManager, dryRun: dryRun ? 'All' : undefined, fieldValidation });

/** The API server refuses custom resources without apiVersion and kind; built-in ones do not need them. */
const withType = <T extends KubeObject>(resource: Resource<T>, object: T): T => ({
  apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
  kind: resource.kind,
  ...object,
});

/** A client that connects with its first call. Close it: idle connections keep the process alive for a while. */
export const createClient = (config: ClusterConfig, clientOptions: ClientOptions): KubeClient => {
  const options = resolveClientOptions(clientOptions);
  const transport = createTransport(options.env, config, options);
  const requester = createRequester(transport, options);

  return {
    server: new URL(config.server).origin,

    async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, call = {}) {
      const path = objectPath(resource, ref);
      const accept = acceptOf(resource, 'PartialObjectMetadata');
      return (await requester.json(
        { verb: 'get', method: 'GET', path, resource: resourceLabel(resource), accept },
        call,
      )) as T;
    },

    async list<T extends KubeObject>(resource: Resource<T>, list: ListOptions = {}) {
      const { namespace, labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = list;
      const query = {
        labelSelector,
        fieldSelector,
        limit,
        continue: list.continue,
        resourceVersion,
        resourceVersionMatch,
      };
      const path = `${collectionPath(resource, namespace)}${toQuery(query)}`;
      const response: { items?: unknown; metadata?: unknown } = await requester.json(
        {
          verb: 'list',
          method: 'GET',
          path,
          resource: resourceLabel(resource),
          accept: acceptOf(resource, 'PartialObjectMetadataList'),
        },
        list,
      );
      const metadata = isRecord(response.metadata) ? response.metadata : {};
      // Without items or resourceVersion it is not an empty list but no list (kubernetes #14528). Go writes an empty slice
      // as null.
      if (
        typeof metadata.resourceVersion !== 'string' ||
        !('items' in response) ||
        !(response.items === null || Array.isArray(response.items))
      )
        throw new KubeError('Malformed', `GET ${path}: the response is not a list`);
      const more = typeof metadata.continue === 'string' && metadata.continue !== '' ? metadata.continue : undefined;
      return {
        items: (response.items ?? []) as T[],
        resourceVersion: metadata.resourceVersion,
        ...(more === undefined ? {} : { continue: more }),
      };
    },

    async create<T extends KubeObject>(resource: Resource<T>, object: T, write: CreateOptions = {}) {
      const path = `${createPath(resource, object.metadata?.namespace)}${writeQuery(write)}`;
      const body = withType(resource, object);
      return (await requester.json(
        { verb: 'create', method: 'POST', path, resource: resourceLabel(resource), body, text: write.json },
        write,
      )) as T;
    },

    async replace<T extends KubeObject>(
      resource: Resource<T>,
      object: T,
      write: WriteOptions & { subresource?: string } = {},
    ) {
      const { namespace, name = '' } = object.metadata ?? {};
      const path = objectPath(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, write.subresource);
      const body = withType(resource, object);
      const call = {
        verb: 'update',
        method: 'PUT',
        path: `${path}${writeQuery(write)}`,
        resource: resourceLabel(resource),
        body,
      } as const;
      return (await requester.json(call, write)) as T;
    },

    async patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, patch: PatchOptions) {
      if (patch.type === 'apply' && !patch.fieldManager)
        throw new KubeError('BadRequest', 'a server-side apply requires fieldManager');
      if (patch.type !== 'apply' && patch.force)
        throw new KubeError('BadRequest', `force is for apply, not for a ${patch.type} patch`);
      const { fieldManager, dryRun, fieldValidation, force } = patch;
      const query = { fieldManager, dryRun: dryRun ? 'All' : undefined, fieldValidation, force };
      const path = `${objectPath(resource, ref, patch.subresource)}${toQuery(query)}`;
      const contentType = patchContentType[patch.type];
      const call = {
        verb: 'patch',
        method: 'PATCH',
        path,
        resource: resourceLabel(resource),
        body,
        contentType,
      } as const;
      return (await requester.json(call, patch)) as T;
    },

    async delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, remove: DeleteOptions = {}) {
      const { preconditions, gracePeriodSeconds, propagationPolicy } = remove;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, gracePeriodSeconds, propagationPolicy };
      const path = objectPath(resource, ref);
      const call = { verb: 'delete', method: 'DELETE', path, resource: resourceLabel(resource), body } as const;
      const response: { kind?: unknown } = await requester.json(call, remove);
      return response.kind === 'Status' ? undefined : (response as T);
    },

    watch: (resource, watch = {}) => openWatch(requester, options, resource, watch),

    raw: (path, call = {}) => {
      if (!path.startsWith('/'))
        return Promise.reject(new KubeError('BadRequest', `path ${JSON.stringify(path)} must start with /`));
      return requester.text({ verb: 'raw', method: 'GET', path, resource: '' }, call);
    },

    close: () => transport.close(),
  };
};
