import type { Clock } from '../../runtime/index.ts';
import { events, type Kept } from '../resources.ts';
import type { Machinery } from '../types.ts';
import { createAgenda } from './agenda.ts';
import { createFeed, type Sight } from './feed.ts';

const LIFETIME_MS = 3_600_000;

/** Forgets each Event an hour after its last change, as etcd does for the real API server. */
export const createEventExpiry = (machinery: Machinery, clock: Clock): { close(): void } => {
  const feed = createFeed(machinery, clock);
  const agenda = createAgenda(clock, (key) => {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    if (machinery.find(events, ref)) machinery.delete(events, ref);
  });
  feed.on(events, ({ type, object: { metadata } }: Sight<Kept<object>>) => {
    const key = `${metadata.namespace}/${metadata.name}`;
    if (type === 'DELETED') agenda.delete(key);
    else agenda.set(key, clock.now() + LIFETIME_MS);
  });
  return feed;
};
