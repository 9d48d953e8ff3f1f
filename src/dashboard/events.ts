import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { events, isKubeError, type KubeClient } from '../kube/index.ts';
import { errorText } from '../runtime/index.ts';
import type { Connection, Reading } from '../view/index.ts';
import type { ObjectEvent, RolloutEvents } from './messages.ts';

const MOST = 100;

const timeOf = ({ series, eventTime, lastTimestamp, metadata }: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

/** Newest first. */
export const toEvents = (list: readonly Event[], most: number): ObjectEvent[] =>
  list
    .toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)))
    .slice(0, most)
    .map((event) => ({
      reason: event.reason ?? '',
      message: event.message ?? '',
      warning: event.type === 'Warning',
      at: timeOf(event),
      count: event.series?.count ?? event.count ?? 1,
    }));

/** The Events about one object; without the right to read them, or when it is gone, there are none. */
export const createEventReader = (client: Pick<KubeClient, 'list'>, namespace: string) => {
  const missing = new Set<string>();
  return {
    missing,
    async about(fieldSelector: string): Promise<readonly Event[]> {
      try {
        return (await client.list(events, { namespace, fieldSelector })).items;
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) missing.add(`Events: ${errorText(error)}`);
        return [];
      }
    },
  };
};

/** What is reported of the DaemonSet and its DaemonRollout. */
export const rolloutEvents = async (
  { client, namespace }: Pick<Connection, 'client' | 'namespace'>,
  { kind, view }: Pick<Reading, 'kind' | 'view'>,
): Promise<RolloutEvents> => {
  const reader = createEventReader(client, namespace);
  // By UID: DaemonSets of both kinds, and an earlier one, may have the name.
  const lists = await Promise.all([
    reader.about(`involvedObject.uid=${view.uid}`),
    reader.about(`involvedObject.kind=DaemonRollout,involvedObject.name=${kind.rolloutName(view.name)}`),
  ]);
  return { events: toEvents(lists.flat(), MOST), missing: [...reader.missing] };
};
