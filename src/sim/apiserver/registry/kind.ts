import type { Resource } from '../../../kube/index.ts';
import type { Clock } from '../../../runtime/index.ts';
import type { StoredObject } from '../../types.ts';
import type { StatusCause } from '../errors.ts';
import type { FieldReader } from '../field-selectors.ts';
import type { Json } from '../json.ts';

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

/** What strategies may ask of the server that they belong to. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly random: () => number;
  /** The present object of a built-in core or cluster resource by plural name, such as `namespaces`. */
  find(table: string, namespace: string | undefined, name: string): StoredObject | undefined;
}

/** What one kind does differently. Every function takes and gives shared objects and changes none in place. */
export interface Strategy {
  /** Fills in what users may leave out. Runs on everything that is written. */
  readonly defaults?: (object: Json) => Json;
  /** Before a new object is validated: takes away what only the server writes, adds what the server knows. */
  readonly prepareForCreate?: (object: Json, world: StrategyContext) => Json;
  /** Before an update is validated. `previous` is the stored object; `object` has its metadata already. */
  readonly prepareForUpdate?: (object: Json, previous: Json, world: StrategyContext) => Json;
  /** Faults of any object; `previous` is what it replaces. */
  readonly validate?: (object: Json, previous?: Json) => StatusCause[];
  /** Faults of a change. */
  readonly validateUpdate?: (object: Json, previous: Json, subresource: string | undefined) => StatusCause[];
  /** Refuses with an error; runs after defaults, as admission does. */
  readonly admit?: (object: Json, world: StrategyContext) => Json;
  /** The object after a write to a subresource, made of the stored object and the one that was sent. */
  readonly subresources?: Readonly<Record<string, (previous: Json, sent: Json, world: StrategyContext) => Json>>;
  /** False: a PUT must name the resourceVersion. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** True: a change of anything but metadata and status counts as a new generation. */
  readonly hasGeneration?: boolean;
  /** Seconds that a deletion waits for whoever ends the object; absent: it is deleted at once. */
  readonly gracePeriodSeconds?: (object: Json, asked: number | undefined) => number;
  /** Runs when a deletion begins: what else changes with the deletion timestamp, or undefined to delete at once. */
  readonly prepareForDelete?: (object: Json) => Json;
  /** Such an object may not vanish yet, although it is deleted and has no metadata finalizers. */
  readonly hasFinalizers?: (object: Json) => boolean;
  /** A deletion answers with the object instead of a bare success. */
  readonly returnDeletedObject?: boolean;
  /** What deletions without a policy do with dependents. Default `Background`. */
  readonly orphans?: boolean;
  /** Rules for names. Default `subdomain`. */
  readonly nameRule?: 'subdomain' | 'label' | 'path';
}
