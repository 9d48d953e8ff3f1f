import { setTimeout as pause } from 'node:timers/promises';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import {
  controllerRevisions,
  daemonSets,
  type KubeClient,
  type KubeObject,
  nodes,
  pods,
  type Resource,
} from '../../src/kube/index.ts';
import { advancedDaemonSets } from '../conformance/advanced/api.ts';
import type { AuditRecord } from '../conformance/index.ts';

/** The user of these records, whose writes are not checked. */
export const WATCHER = 'chaos:watcher';

const RETRY_MS = 100;

/** The event of a deletion carries the object as it was before. */
const gone = ({ metadata, ...object }: KubeObject, at: number): KubeObject => ({
  ...object,
  metadata: {
    ...metadata,
    deletionTimestamp: metadata?.deletionTimestamp ?? new Date(at).toISOString(),
    deletionGracePeriodSeconds: 0,
    finalizers: [],
  },
});

/**
 * Watches the objects that the invariants are about, directly at the API server and through its restarts. Each observation is
 * recorded in the form of an audit record, since the audit log omits writes whose caller was cut off or killed, and
 * writes that a server executed right before it stopped.
 */
export const startWatcher = (client: KubeClient, namespace: string) => {
  const observations: AuditRecord[] = [];
  const stop = new AbortController();
  let breaks = 0;

  const follow = async <T extends KubeObject>(resource: Resource<T>): Promise<void> => {
    const known = new Map<string, T>();
    const { group, plural, kind, namespaced } = resource;
    const note = (verb: 'update' | 'delete', object: T): void => {
      const at = Date.now();
      const { name = '', namespace: where = '' } = object.metadata ?? {};
      const response = { kind, ...(verb === 'delete' ? gone(object, at) : object) };
      const common = { user: WATCHER, userAgent: '', code: 200, request: undefined };
      observations.push({
        ...common,
        receivedAt: at,
        answeredAt: at,
        verb,
        group,
        resource: plural,
        namespace: where,
        name,
        response,
      });
    };
    const uidOf = ({ metadata }: T): string => metadata?.uid ?? '';
    const read = async (): Promise<void> => {
      const listed = new Set<string>();
      let isListing = true;
      const where = namespaced ? { namespace } : {};
      for await (const event of client.watch(resource, { ...where, signal: stop.signal, sendInitialEvents: true })) {
        if (event.type === 'BOOKMARK') {
          if (!event.initialEventsEnd) continue;
          isListing = false;
          const missed = [...known].filter(([uid]) => !listed.has(uid));
          const names = new Set(
            [...known].filter(([uid]) => listed.has(uid)).map(([, { metadata }]) => metadata?.name),
          );
          for (const [uid, object] of missed) {
            known.delete(uid);
            // A node that was created again under the same name exists.
            if (names.has(object.metadata?.name) && !namespaced) continue;
            note('delete', { ...object, metadata: { ...object.metadata, resourceVersion: event.resourceVersion } });
          }
          continue;
        }
        const { object } = event;
        if (event.type === 'DELETED') {
          known.delete(uidOf(object));
          note('delete', object);
          continue;
        }
        if (isListing) listed.add(uidOf(object));
        known.set(uidOf(object), object);
        note('update', object);
      }
    };
    while (!stop.signal.aborted) {
      await read().catch(() => undefined);
      breaks += 1;
      await pause(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const following = [
    follow(pods),
    follow(nodes),
    follow(daemonSets),
    follow(advancedDaemonSets('v1beta1')),
    follow<ControllerRevision>(controllerRevisions),
  ];
  return {
    observations: observations as readonly AuditRecord[],
    breaks: () => breaks,
    async stop(): Promise<void> {
      stop.abort();
      await Promise.all(following);
    },
  };
};
export type Watcher = ReturnType<typeof startWatcher>;
