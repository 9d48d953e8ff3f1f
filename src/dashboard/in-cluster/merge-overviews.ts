import type { Feed } from '../feed.ts';
import type { OverviewMessage, RolloutRow } from '../messages.ts';

/** The feeds of several namespaces as one. It delivers all rows once each of them is known. */
export const mergeOverviews = (feeds: readonly Feed<OverviewMessage>[]): Feed<OverviewMessage> => ({
  subscribe(listener) {
    const silent = new Set(feeds);
    const first: RolloutRow[] = [];
    const ends = feeds.map((feed) =>
      feed.subscribe((message) => {
        if (silent.size === 0) {
          listener(message.type === 'rollouts' ? { type: 'change', rows: message.rows, gone: [] } : message);
          return;
        }
        // Until each has spoken, rows may repeat, and the last of them counts.
        silent.delete(feed);
        first.push(...message.rows);
        if (silent.size === 0) listener({ type: 'rollouts', rows: first });
      }),
    );
    return () => {
      for (const end of ends) end();
    };
  },
});
