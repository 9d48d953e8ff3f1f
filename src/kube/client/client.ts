import type { ClusterConfig } from '../config/cluster-config.ts';
import { createConnection } from '../transport/connection.ts';
import { createCaller } from './caller.ts';
import { type ClientOptions, resolveClientOptions } from './client-options.ts';
import { KubeError } from './errors.ts';
import { createRateLimiter } from './rate-limit.ts';
import { collectionPath, createPath, objectPath, toQuery } from './resource.ts';
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

const labelOf = <T extends KubeObject>(resource: Resource<T>): string =>
  resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;

const writeQuery = ({ fieldManager, dryRun }: WriteOptions): string =>
  toQuery({ fieldManager, dryRun: dryRun ? 'All' : undefined });

/** Custom resources are refused without their type; built-in ones do not need it. */
const withType = <T extends KubeObject>(resource: Resource<T>, object: T): T => ({
  apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
  kind: resource.kind,
  ...object,
});

/** Connects lazily: the first call does. Close it, or its connections keep the process alive for a while. */
export const createClient = (config: ClusterConfig, clientOptions: ClientOptions): KubeClient => {
  const options = resolveClientOptions(clientOptions);
  const connection = createConnection(options.env, config, options);
  const limiter = createRateLimiter(options.env.clock, options.qps, options.burst);
  const caller = createCaller(connection, limiter, options);

  return {
    server: new URL(config.server).origin,

    async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, call = {}) {
      const path = objectPath(resource, ref);
      return (await caller.json({ verb: 'get', method: 'GET', path, resource: labelOf(resource) }, call)) as T;
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
      const answer: { items?: unknown; metadata?: unknown } = await caller.json(
        { verb: 'list', method: 'GET', path, resource: labelOf(resource) },
        list,
      );
      const metadata = isRecord(answer.metadata) ? answer.metadata : {};
      // No items and no resourceVersion is not an empty list but no list (kubernetes #14528). Go writes an empty slice as null.
      if (
        typeof metadata.resourceVersion !== 'string' ||
        !('items' in answer) ||
        !(answer.items === null || Array.isArray(answer.items))
      )
        throw new KubeError('Malformed', `GET ${path}: the answer is no list`);
      const more = typeof metadata.continue === 'string' && metadata.continue !== '' ? metadata.continue : undefined;
      return {
        items: (answer.items ?? []) as T[],
        resourceVersion: metadata.resourceVersion,
        ...(more === undefined ? {} : { continue: more }),
      };
    },

    async create<T extends KubeObject>(resource: Resource<T>, object: T, write: CreateOptions = {}) {
      const path = `${createPath(resource, object.metadata?.namespace)}${writeQuery(write)}`;
      const body = withType(resource, object);
      return (await caller.json(
        { verb: 'create', method: 'POST', path, resource: labelOf(resource), body, text: write.json },
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
        resource: labelOf(resource),
        body,
      } as const;
      return (await caller.json(call, write)) as T;
    },

    async patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, body: unknown, patch: PatchOptions) {
      if (patch.type === 'apply' && !patch.fieldManager)
        throw new KubeError('BadRequest', 'a server-side apply needs fieldManager');
      if (patch.type !== 'apply' && patch.force)
        throw new KubeError('BadRequest', `force belongs to apply, not to a ${patch.type} patch`);
      const query = { fieldManager: patch.fieldManager, dryRun: patch.dryRun ? 'All' : undefined, force: patch.force };
      const path = `${objectPath(resource, ref, patch.subresource)}${toQuery(query)}`;
      const contentType = patchContentType[patch.type];
      const call = { verb: 'patch', method: 'PATCH', path, resource: labelOf(resource), body, contentType } as const;
      return (await caller.json(call, patch)) as T;
    },

    async delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, remove: DeleteOptions = {}) {
      const { preconditions, gracePeriodSeconds, propagationPolicy } = remove;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, gracePeriodSeconds, propagationPolicy };
      const path = objectPath(resource, ref);
      const call = { verb: 'delete', method: 'DELETE', path, resource: labelOf(resource), body } as const;
      const answer: { kind?: unknown } = await caller.json(call, remove);
      return answer.kind === 'Status' ? undefined : (answer as T);
    },

    watch: (resource, watch = {}) => openWatch(caller, options, resource, watch),

    raw: (path, call = {}) => {
      if (!path.startsWith('/'))
        return Promise.reject(new KubeError('BadRequest', `path ${JSON.stringify(path)} must start with /`));
      return caller.text({ verb: 'raw', method: 'GET', path, resource: '' }, call);
    },

    close: () => connection.close(),
  };
};
