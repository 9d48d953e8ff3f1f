import { isDeepStrictEqual } from 'node:util';
import { KubeError, type KubeObject, keyOf, type ObjectRef, type Resource } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';

/** One change, as watches deliver it. */
export interface Change {
  plural: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  object: KubeObject;
}

type Stored = KubeObject & { spec?: unknown; status?: unknown };

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Entry {
  type?: string;
  $patch?: string;
}

/** Conditions are merged by their type, as a strategic merge patch does. */
const mergeConditions = (into: readonly Entry[], patch: readonly Entry[]): Entry[] => {
  const rest = into.filter(({ type }) => !patch.some((entry) => entry.type === type));
  const made = patch.filter(({ $patch }) => $patch !== 'delete');
  return [...rest, ...made.map((entry) => ({ ...into.find(({ type }) => type === entry.type), ...entry }))];
};

/** A merge patch, with the parts of a strategic one that are used here: conditions and `$patch: replace`. */
const merge = (into: unknown, patch: unknown): unknown => {
  if (!isPlain(patch)) return patch;
  const { $patch, ...fields } = patch;
  const base = isPlain(into) && $patch !== 'replace' ? { ...into } : {};
  for (const [key, value] of Object.entries(fields)) {
    const present = base[key];
    if (value === null) delete base[key];
    else if (key === 'conditions' && Array.isArray(value))
      base[key] = mergeConditions(Array.isArray(present) ? (present as Entry[]) : [], value as Entry[]);
    else base[key] = merge(present, value);
  }
  return base;
};

const versionOf = (object: KubeObject): string => object.metadata?.resourceVersion ?? '';

/** Kubernetes objects with real resource versions, UIDs and preconditions, and the history that watches replay. */
export const createObjects = (clock: Clock) => {
  const objects = new Map<string, Stored>();
  const history: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  let version = 100;
  let uids = 0;
  const prunes = new Map<string, (object: Stored) => Stored>();

  const idOf = (resource: Resource, ref: ObjectRef): string =>
    `${resource.plural}:${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`;

  const notify = (plural: string, type: Change['type'], object: KubeObject): void => {
    const change = { plural, type, version, object: structuredClone(object) };
    history.push(change);
    for (const listener of listeners) listener(change);
  };

  const find = (resource: Resource, ref: ObjectRef): Stored => {
    const found = objects.get(idOf(resource, ref));
    if (!found) throw new KubeError('NotFound', `${resource.plural} "${ref.name}" not found`, { status: 404 });
    return found;
  };

  const demand = (what: string, wanted: string | undefined, is: string | undefined): void => {
    if (wanted !== undefined && wanted !== '' && wanted !== is)
      throw new KubeError('Conflict', `the ${what} is ${is} and not ${wanted}`, { status: 409 });
  };

  const store = (resource: Resource, before: Stored, asked: Stored): Stored => {
    const next = prunes.get(resource.plural)?.(asked) ?? asked;
    // Like the real API server: a write that changes nothing gives no new version.
    if (isDeepStrictEqual(before, next)) return before;
    version += 1;
    const generation = before.metadata?.generation;
    const bumped = generation !== undefined && !isDeepStrictEqual(before.spec, next.spec) ? generation + 1 : generation;
    const metadata = {
      ...next.metadata,
      uid: before.metadata?.uid ?? '',
      resourceVersion: String(version),
      ...(bumped !== undefined && { generation: bumped }),
    };
    const stored = { ...next, metadata };
    objects.set(idOf(resource, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }), stored);
    notify(resource.plural, 'MODIFIED', stored);
    return stored;
  };

  const self = {
    history: history as readonly Change[],
    get version(): number {
      return version;
    },
    listen(listener: (change: Change) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** What the server stores of objects of a kind; undefined for everything. */
    prune(plural: string, keep: ((object: Stored) => Stored) | undefined): void {
      if (keep) prunes.set(plural, keep);
      else prunes.delete(plural);
    },
    all: (resource: Resource): Stored[] =>
      [...objects].filter(([id]) => id.startsWith(`${resource.plural}:`)).map(([, object]) => object),
    find,
    create(resource: Resource, object: KubeObject): Stored {
      const { namespace = '', name = '' } = object.metadata ?? {};
      const id = idOf(resource, { namespace, name });
      if (objects.has(id)) throw new KubeError('AlreadyExists', `${keyOf(object)} already exists`, { status: 409 });
      version += 1;
      uids += 1;
      const stored: Stored = {
        ...structuredClone(object),
        metadata: {
          generation: 1,
          creationTimestamp: new Date(clock.now()).toISOString(),
          ...object.metadata,
          uid: `uid-${uids}`,
          resourceVersion: String(version),
        },
      };
      objects.set(id, stored);
      notify(resource.plural, 'ADDED', stored);
      return stored;
    },
    /** PUT; with the subresource, only the status is replaced. */
    replace(resource: Resource, object: Stored, subresource: string | undefined): Stored {
      const before = find(resource, { namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '' });
      demand('uid', object.metadata?.uid, before.metadata?.uid);
      demand('version', object.metadata?.resourceVersion, versionOf(before));
      const { status } = structuredClone(object);
      return store(resource, before, subresource === 'status' ? { ...before, status } : structuredClone(object));
    },
    patch(resource: Resource, ref: ObjectRef, body: unknown): Stored {
      const before = find(resource, ref);
      const { metadata } = body as KubeObject;
      demand('uid', metadata?.uid, before.metadata?.uid);
      demand('version', metadata?.resourceVersion, versionOf(before));
      return store(resource, before, merge(before, structuredClone(body)) as Stored);
    },
    /** Pods stay with a deletionTimestamp, until their kubelet removes them; other objects are gone at once. */
    delete(resource: Resource, ref: ObjectRef, preconditions: { uid?: string; resourceVersion?: string } = {}): Stored {
      const before = find(resource, ref);
      demand('uid', preconditions.uid, before.metadata?.uid);
      demand('version', preconditions.resourceVersion, versionOf(before));
      if (resource.plural !== 'pods') return self.remove(resource, ref);
      if (before.metadata?.deletionTimestamp) return before;
      const deletionTimestamp = new Date(clock.now()).toISOString();
      return store(resource, before, { ...before, metadata: { ...before.metadata, deletionTimestamp } });
    },
    remove(resource: Resource, ref: ObjectRef): Stored {
      const before = find(resource, ref);
      version += 1;
      objects.delete(idOf(resource, ref));
      const last = { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
      notify(resource.plural, 'DELETED', last);
      return last;
    },
  };
  return self;
};
export type Objects = ReturnType<typeof createObjects>;
