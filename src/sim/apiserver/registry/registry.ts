import type { Resource } from '../../../kube/index.ts';
import { noResource } from '../errors.ts';
import { builtinKinds } from './builtin-kinds.ts';
import { isKind, type Kind } from './kind.ts';

/** Every kind that is served at present. */
export interface Registry {
  readonly kinds: readonly Kind[];
  find(group: string, version: string, plural: string): Kind | undefined;
  /** The kind that a resource names; refuses with NotFound when it is not served. */
  resolve(resource: Resource): Kind;
  /** Whether anything served is of that kind, as objects name it. */
  readonly isKnown: (apiVersion: string, kind: string) => boolean;
  /** The kind in which a table's objects are stored. */
  storageKind(table: string): Kind | undefined;
  /** Replaces the kinds of one CustomResourceDefinition; none takes them away. */
  setCustom(definition: string, kinds: readonly Kind[]): void;
}

const address = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

export const createRegistry = (): Registry => {
  const custom = new Map<string, readonly Kind[]>();
  let byAddress = new Map<string, Kind>();
  let byGroupKind = new Map<string, Kind>();
  let tables = new Map<string, Kind>();
  let all: readonly Kind[] = [];
  /** By those who asked: a caller's resource is always the same object. */
  let resolved = new WeakMap<Resource, Kind>();

  const rebuild = (): void => {
    resolved = new WeakMap();
    all = [...builtinKinds, ...[...custom.values()].flat()];
    byAddress = new Map(all.map((kind) => [address(kind.group, kind.version, kind.plural), kind]));
    byGroupKind = new Map(all.map((kind) => [address(kind.group, kind.version, kind.kind), kind]));
    tables = new Map(
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
    storageKind: (table) => tables.get(table),
    setCustom(definition, kinds) {
      if (kinds.length === 0) custom.delete(definition);
      else custom.set(definition, kinds);
      rebuild();
    },
  };
};
