import type { Clock } from '../../../runtime/index.ts';
import type { StoredObject } from '../../types.ts';
import type { Manager } from '../apply/managers.ts';
import type { Tokens } from '../http/tokens.ts';
import type { Kind, Registry, World } from '../kinds/index.ts';
import type { ObjectStore } from '../store/index.ts';
import type { Json } from '../value/index.ts';
import type { Snapshots } from './page.ts';
import type { PodIndex } from './pod-index.ts';
import type { WatchHub } from './watch.ts';

/** What every operation works on. */
export interface Core {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly world: World;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pods: PodIndex;
  readonly watches: WatchHub;
  readonly snapshots: Snapshots;
  readonly tokens: Tokens;
  /** What the server's own controllers do about a write, done at once: nobody has to wait for it. */
  afterWrite(kind: Kind, object: StoredObject): void;
  /** What goes with an object that is gone. */
  afterDelete(kind: Kind, object: StoredObject): void;
}

export interface Ref {
  namespace?: string | undefined;
  name: string;
}

export interface WriteContext {
  /** Who writes; without a name, ownership of fields is not recorded. */
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
  subresource?: string | undefined;
  /** The account of owners that a new object starts with, when it is applied. */
  managers?: readonly Manager[];
}

/** RFC 3339 in whole seconds, as `metav1.Time` is written. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** The object as the kind's version shows it. */
export const viewOf = (kind: Kind, object: StoredObject): StoredObject =>
  kind.fromStored ? (kind.fromStored(object) as StoredObject) : object;

export const storedOf = (kind: Kind, object: Json): Json => (kind.toStored ? kind.toStored(object) : object);
