import type { Resource } from '../../../src/kube/index.ts';
import { noResource } from '../errors.ts';
import { builtinKinds } from './builtin-kinds.ts';
import { isKind, type Kind } from './kind.ts';

/** The kinds that are currently served. */
export interface Registry {
  readonly kinds: readonly Kind[];
  find(group: string, version: string, plural: string): Kind | undefined;
  /** The kind of a resource; throws NotFound if it isn't served. */
  resolve(resource: Resource): Kind;
  /** Whether any served resource has this apiVersion and kind. */
  readonly isKnown: (apiVersion: string, kind: string) => boolean;
  /** The kind of a collection's storage version. */
  storageKind(collection: string): Kind | undefined;
  /** Replaces the kinds of a CustomResourceDefinition; an empty list removes them. */
  setCustom(definition: string, kinds: readonly Kind[]): void;
}

const address = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

export const createRegistry = (): Registry => {
  const custom = new Map<string, readonly Kind[]>();
  let byAddress = new Map<string, Kind>();
  let byGroupKind = new Map<string, Kind>();
  let storageKinds = new Map<string, Kind>();
  let all: readonly Kind[] = [];
  /** Cached by Resource object: callers always pass the same one. */
  let resolved = new WeakMap<Resource, Kind>();

  const rebuild = (): void => {
    resolved = new WeakMap();
    all = [...builtinKinds, ...[...custom.values()].flat()];
    byAddress = new Map(all.map((kind) => [address(kind.group, kind.version, kind.plural), kind]));
    byGroupKind = new Map(all.map((kind) => [address(kind.group, kind.version, kind.kind), kind]));
    storageKinds = new Map(
      all.filter((kind) => kind.fromStorageVersion === undefined).map((kind) => [kind.collection, kind]),
    );
  };
  rebuild();

  const find = (group: string, version: string, plural: string): Kind | undefined =>
    byAddress.get(address(group, version, plural));

  return {
    get kinds() {
      return all;
    },
    find,
    resolve(resource) {
      const known = resolved.get(resource);
      if (known) return known;
      if (isKind(resource)) return resource;
      const kind = find(resource.group, resource.version, resource.plural);
      if (!kind) throw noResource();
      resolved.set(resource, kind);
      return kind;
    },
    isKnown(apiVersion, kind) {
      const slash = apiVersion.indexOf('/');
      const group = slash < 0 ? '' : apiVersion.slice(0, slash);
      return byGroupKind.has(address(group, apiVersion.slice(slash + 1), kind));
    },
    storageKind: (collection) => storageKinds.get(collection),
    setCustom(definition, kinds) {
      if (kinds.length === 0) custom.delete(definition);
      else custom.set(definition, kinds);
      rebuild();
    },
  };
};
