import type { ApiServer, Change, StoredObject } from '../../../embedded/index.ts';
import type { Resource, WatchOptions } from '../../../src/kube/index.ts';
import { matches, parseSelector } from '../../../src/rollout/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';

/** An API server that is behind: it serves watches from an older version until it catches up. */
export interface StaleWatchCache {
  /** The version that it serves. */
  version: number;
  /** When it catches up, actual time. */
  until: number;
  /** Called when a watch is served an older state. */
  onEffect: () => void;
}

/** Changes are dropped after this time. */
const KEPT_MS = 120_000;
/** Old changes are dropped when there are this many, and then when there are twice as many as were kept. */
const COMPACT_AT = 5_000;

const keyOf = ({ metadata }: StoredObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Such as `spec.nodeName=node-1`. */
const hasFields = (object: StoredObject, selector: string | undefined): boolean =>
  (selector ?? '')
    .split(',')
    .filter((term) => term !== '')
    .every((term) => {
      const [path = '', wanted] = term.split('=', 2);
      const value = path
        .split('.')
        .reduce<unknown>((within, key) => (within as Record<string, unknown> | undefined)?.[key], object);
      return value === wanted;
    });

/** Keeps the API server's recent changes, to serve watches from an older state. */
export const createWatchCache = (apiServer: ApiServer, time: Clock) => {
  let changes: { at: number; version: number; change: Change }[] = [];
  let compactAt = COMPACT_AT;
  apiServer.subscribe((change) => {
    changes.push({ at: time.now(), version: apiServer.resourceVersion, change });
    if (changes.length <= compactAt) return;
    changes = changes.filter(({ at }) => at > time.now() - KEPT_MS);
    compactAt = Math.max(COMPACT_AT, 2 * changes.length);
  });
  let stale: StaleWatchCache | undefined;
  return {
    /** Watches that begin from now on are served an older state. */
    serveStale(next: StaleWatchCache): void {
      stale = next;
    },
    catchUp(): void {
      stale = undefined;
    },
    /** Undefined: the API server is not behind. */
    stale: (): StaleWatchCache | undefined => (stale && stale.until > time.now() ? stale : undefined),
    /** The newest version at that time. */
    versionAgo(ms: number): number {
      const at = time.now() - ms;
      const later = changes.find((each) => each.at > at);
      return later ? later.version - 1 : apiServer.resourceVersion;
    },
    /** Whether an object of this resource has changed since. */
    isOutdated: ({ group, plural }: Resource, version: number): boolean =>
      changes.some(
        ({ version: at, change }) =>
          at > version && change.resource.plural === plural && change.resource.group === group,
      ),
    /** The objects at that version, selected as by a watch. */
    list(resource: Resource, options: WatchOptions, version: number): StoredObject[] {
      const { group, plural } = resource;
      const objects = new Map(apiServer.list<StoredObject>(resource).map((object) => [keyOf(object), object]));
      for (const { version: at, change } of changes.toReversed()) {
        if (at <= version) break;
        if (change.resource.plural !== plural || change.resource.group !== group) continue;
        const before = change.type === 'DELETED' ? (change.previous ?? change.object) : change.previous;
        if (before) objects.set(keyOf(change.object), before);
        else objects.delete(keyOf(change.object));
      }
      const parsed = options.labelSelector === undefined ? undefined : parseSelector(options.labelSelector);
      return [...objects.values()].filter(
        (object) =>
          (!options.namespace || object.metadata.namespace === options.namespace) &&
          (!parsed?.ok || matches(parsed.selector, object.metadata.labels ?? {})) &&
          hasFields(object, options.fieldSelector),
      );
    },
  };
};
export type WatchCache = ReturnType<typeof createWatchCache>;
