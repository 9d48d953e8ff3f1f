import type { Clock } from '../../../runtime/index.ts';
import type { StoredObject } from '../../types.ts';
import type { Cause } from '../refusal.ts';
import type { Json } from '../value/index.ts';

/** What strategies may ask of the server that they belong to. */
export interface World {
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
  readonly prepareCreate?: (object: Json, world: World) => Json;
  /** Before an update is validated. `previous` is the stored object; `object` has its metadata already. */
  readonly prepareUpdate?: (object: Json, previous: Json, world: World) => Json;
  /** Faults of any object; `previous` is what it replaces. */
  readonly validate?: (object: Json, previous?: Json) => Cause[];
  /** Faults of a change. */
  readonly validateUpdate?: (object: Json, previous: Json, subresource: string | undefined) => Cause[];
  /** Refuses with an error; runs after defaults, as admission does. */
  readonly admit?: (object: Json, world: World) => Json;
  /** The object after a write to a subresource, made of the stored object and the one that was sent. */
  readonly subresources?: Readonly<Record<string, (previous: Json, sent: Json, world: World) => Json>>;
  /** False: a PUT must name the resourceVersion. Default true. */
  readonly unconditionalUpdate?: boolean;
  /** True: a change of anything but metadata and status counts as a new generation. */
  readonly generation?: boolean;
  /** Seconds that a deletion waits for whoever ends the object; absent: it is deleted at once. */
  readonly grace?: (object: Json, asked: number | undefined) => number;
  /** Runs when a deletion begins: what else changes with the deletion timestamp, or undefined to delete at once. */
  readonly onDelete?: (object: Json) => Json;
  /** Such an object may not vanish yet, although it is deleted and has no metadata finalizers. */
  readonly held?: (object: Json) => boolean;
  /** A deletion answers with the object instead of a bare success. */
  readonly answersWithObject?: boolean;
  /** What deletions without a policy do with dependents. Default `Background`. */
  readonly orphans?: boolean;
  /** Rules for names. Default `subdomain`. */
  readonly names?: 'subdomain' | 'label' | 'path';
}
