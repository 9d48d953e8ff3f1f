import { useEffect, useState } from 'preact/hooks';
import { readEventsOf } from '../../api.ts';
import { text } from '../../text/index.ts';
import type { ObjectEvent, RolloutEvents, RolloutHead, RolloutRef } from '../../types.ts';
import { ago } from '../../view/ago.ts';

/** Events, newest first. */
export const EventList = ({ events }: { events: readonly ObjectEvent[] }) =>
  events.length === 0 ? (
    <p class="soft">{text.node.none}</p>
  ) : (
    <ul class="events">
      {events.map((event) => (
        <li key={`${event.at} ${event.reason} ${event.message}`}>
          <strong class={event.warning ? 'bad' : ''}>{event.reason}</strong>{' '}
          <span class="soft" title={event.at}>
            {ago(event.at)}
            {event.count > 1 && ` ${text.events.times(event.count)}`}
          </span>
          <p>{event.message}</p>
        </li>
      ))}
    </ul>
  );

const READ_AGAIN_MS = 5_000;

/** What was reported of the rollout. Kubernetes keeps Events for an hour, unless the API server is set otherwise. */
export const Events = ({ rollout, head }: { rollout: RolloutRef; head: RolloutHead }) => {
  const { cluster, namespace, kind, name } = rollout;
  const [found, setFound] = useState<RolloutEvents | undefined>();
  const [error, setError] = useState('');
  // Each of these comes with an Event.
  const { state } = head.headline;
  const moment = [state, head.target, head.startedAt, head.finishedAt, head.stoppedAt].join();
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      let why = '';
      const events = await readEventsOf({ cluster, namespace, kind, name }).catch((reason: unknown) => {
        why = reason instanceof Error ? reason.message : String(reason);
        return undefined;
      });
      if (isOver) return;
      if (events) setFound(events);
      setError(why);
    };
    void read();
    // The manager reports an Event after it has written the status that this page has seen.
    const again = setInterval(() => void read(), READ_AGAIN_MS);
    return () => {
      isOver = true;
      clearInterval(again);
    };
  }, [cluster, namespace, kind, name, moment]);
  return (
    <section class="card" aria-labelledby="events">
      <h2 id="events">{text.events.title}</h2>
      {error !== '' && <p class="bad">{error}</p>}
      {found ? <EventList events={found.events} /> : error === '' && <p class="soft">{text.node.reading}</p>}
      {found?.missing.map((what) => (
        <p key={what} class="wait">
          {text.node.missing(what)}
        </p>
      ))}
    </section>
  );
};
