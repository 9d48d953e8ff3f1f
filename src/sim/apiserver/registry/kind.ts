import type { Resource } from '../../../kube/index.ts';
import type { FieldReader } from '../selectors/index.ts';
import type { Json } from '../value/index.ts';
import type { Strategy } from './strategy.ts';

/** One served resource in one version. */
export interface Kind extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Where its objects are kept; kinds with one table are views of the same objects. */
  readonly collection: string;
  readonly fields: FieldReader;
  readonly strategy: Strategy;
  /** How stored objects read in this version, and back. Absent when they are the same. */
  readonly fromStorageVersion?: (object: Json) => Json;
  readonly toStorageVersion?: (object: Json) => Json;
  /** Name of its definition in the table of built-in types; absent for custom resources. */
  readonly definition?: string;
  /** The custom resource's version, when it is one. */
  readonly custom?: CustomVersion;
}

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Of the bodies that it takes and gives, when it is not the resource's own. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
}

/** What a CRD says of one version beyond its names. */
export interface CustomVersion {
  readonly schema: Json;
  readonly columns: readonly Json[];
  readonly crdUid: string;
}

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

export const isKind = (resource: Resource): resource is Kind => 'strategy' in resource;
