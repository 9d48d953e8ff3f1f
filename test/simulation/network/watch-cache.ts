import type { Resource, WatchOptions } from '../../../src/kube/index.ts';
import { matches, parseSelector } from '../../../src/rollout/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { ApiServer, Change, StoredObject } from '../../../src/sim/index.ts';

/** What an API server that lags serves watches from, until it has caught up. */
export interface StaleWatchCache {
  /** How far it has come. */
  version: number;
  /** When it will have caught up, true time. */
  until: number;
  /** To be called when a watch is served from the past. */
  onEffect: () => void;
}

/** Changes are forgotten after so long, true time. */
const KEPT_MS = 120_000;
const TIDY_AT = 5_000;

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

/** The API server's state as it was a while ago. */
export const createWatchCache = (apiServer: ApiServer, time: Clock) => {
  let changes: { at: number; version: number; change: Change }[] = [];
  apiServer.subscribe((change) => {
    changes.push({ at: time.now(), version: apiServer.resourceVersion, change });
    if (changes.length > TIDY_AT) changes = changes.filter(({ at }) => at > time.now() - KEPT_MS);
  });
  return {
    /** The newest version so long ago. */
    versionAgo(ms: number): number {
      const at = time.now() - ms;
      const later = changes.find((each) => each.at > at);
      return later ? later.version - 1 : apiServer.resourceVersion;
    },
    /** Has anything of this kind changed since? */
    isOutdated: ({ group, plural }: Resource, version: number): boolean =>
      changes.some(
        ({ version: at, change }) =>
          at > version && change.resource.plural === plural && change.resource.group === group,
      ),
    /** What was there, selected as a watch does. */
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
