import type { Clock } from '../../runtime/index.ts';
import { events, type Stored } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { createInformers, type InformerEvent } from './informers.ts';
import { createTimerQueue } from './timer-queue.ts';

const LIFETIME_MS = 3_600_000;

/** Forgets each Event an hour after its last change, as etcd does for the real API server. */
export const createEventTtlController = (apiServer: ApiServer, clock: Clock): { close(): void } => {
  const informers = createInformers(apiServer, clock);
  const agenda = createTimerQueue(clock, (key) => {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    if (apiServer.find(events, ref)) apiServer.delete(events, ref);
  });
  informers.addHandler(events, ({ type, object: { metadata } }: InformerEvent<Stored<object>>) => {
    const key = `${metadata.namespace}/${metadata.name}`;
    if (type === 'DELETED') agenda.delete(key);
    else agenda.set(key, clock.now() + LIFETIME_MS);
  });
  return informers;
};
