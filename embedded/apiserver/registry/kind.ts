import type { Resource } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { StoredObject } from '../../types.ts';
import type { StatusCause } from '../errors.ts';
import type { FieldReader } from '../field-selectors.ts';
import type { Json } from '../json.ts';

/** A resource served in one version. */
export interface Kind extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Where its objects are stored; kinds that share a collection are versions of the same objects. */
  readonly collection: string;
  readonly fields: FieldReader;
  readonly strategy: Strategy;
  /** Conversion from and to the storage version. Absent when this is the storage version. */
  readonly fromStorageVersion?: (object: Json) => Json;
  readonly toStorageVersion?: (object: Json) => Json;
  /** Its type in definitions.txt; absent for custom resources. */
  readonly definition?: string;
  /** Set for custom resources. */
  readonly custom?: CustomVersion;
}

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of its bodies, if it isn't the resource's own. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
}

/** A version of a CRD. */
export interface CustomVersion {
  readonly schema: Json;
  readonly columns: readonly Json[];
  readonly crdUid: string;
}

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

export const isKind = (resource: Resource): resource is Kind => 'strategy' in resource;

/** What strategies may use of the server. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly random: () => number;
  /** The current object of a built-in resource, by collection such as `namespaces`. */
  find(collection: string, namespace: string | undefined, name: string): StoredObject | undefined;
}

/**
 * The kind-specific part of create, update and delete (rest.RESTCreateStrategy and friends). Functions return changed
 * copies and never modify their arguments.
 */
export interface Strategy {
  /** Sets defaults; runs on every write. */
  readonly defaults?: (object: Json) => Json;
  /** Before a create is validated: clears server-managed fields and sets initial ones. */
  readonly prepareForCreate?: (object: Json, context: StrategyContext) => Json;
  /** Before an update is validated. `previous` is the stored object; `object` already has its metadata. */
  readonly prepareForUpdate?: (object: Json, previous: Json, context: StrategyContext) => Json;
  /** Validates an object; `previous` is the one that it replaces. */
  readonly validate?: (object: Json, previous?: Json) => StatusCause[];
  readonly validateUpdate?: (object: Json, previous: Json, subresource: string | undefined) => StatusCause[];
  /**
   * Warnings for the writer of a valid object: of a new one as it was sent, with defaults; of an update by how it differs from
   * `previous`.
   */
  readonly warnings?: (object: Json, previous?: Json) => string[];
  /** Admission plugins: mutate or reject a new object after defaulting. */
  readonly admit?: (object: Json, context: StrategyContext) => Json;
  /** Updates through a subresource: the new object for the stored and the sent one. */
  readonly subresources?: Readonly<Record<string, (previous: Json, sent: Json, context: StrategyContext) => Json>>;
  /** If false, a PUT must have a resourceVersion. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Whether a PUT of an object that doesn't exist creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** Whether changes outside of metadata and status increment metadata.generation. */
  readonly hasGeneration?: boolean;
  /** The grace period of a deletion in seconds; absent for kinds that are deleted at once. */
  readonly gracePeriodSeconds?: (object: Json, asked: number | undefined) => number;
  /** Further changes when a deletion starts. */
  readonly prepareForDelete?: (object: Json) => Json;
  /** Whether finalizers outside of metadata keep a deleted object. */
  readonly hasFinalizers?: (object: Json) => boolean;
  /** Whether a deletion returns the object instead of a Status. */
  readonly returnDeletedObject?: boolean;
  /** The naming rule. Default `subdomain`. */
  readonly nameRule?: 'subdomain' | 'label' | 'path';
}

export const keepStatus = (object: Json, previous: Json): Json => ({ ...object, status: previous.status });
export const keepSpec = (previous: Json, sent: Json): Json => ({ ...sent, spec: previous.spec });

/** Writes to the object keep its status, and writes to the status keep the spec. */
export const statusSubresource: Pick<Strategy, 'prepareForUpdate' | 'subresources'> = {
  prepareForUpdate: keepStatus,
  subresources: { status: keepSpec },
};
