import { useRef } from 'preact/hooks';
import { keyOf, type Store } from '../store.ts';
import { stepsOf } from '../view/steps.ts';

/**
 * Announces changes to screen readers, once and briefly. The cards themselves are not live regions, because they would be
 * read from the start at every change.
 */
export const Announcer = ({ store }: { store: Store }) => {
  const { text } = store;
  const device = store.device.value;
  const said = useRef<ReadonlyMap<string, string> | null>(null);
  const language = useRef(text.language);
  const words = useRef('');
  if (device !== null) {
    const present = new Map(
      store.updates.value.map((update) => {
        const step = stepsOf(update, device, Number.NaN, text).findLast(({ state }) => state !== 'ahead');
        const what = update.state === 'updating' || update.state === 'queued' ? step?.label : undefined;
        return [keyOf(update), text.live.state(update.daemonSet, what ?? text.state[update.state])];
      }),
    );
    // Another language is no news.
    const before = language.current === text.language ? said.current : null;
    if (before === null) words.current = '';
    language.current = text.language;
    const news = before === null ? [] : [...present].filter(([key, what]) => before.get(key) !== what);
    if (news.length > 0) words.current = text.live.all(news.map(([, what]) => what));
    said.current = present;
  }
  return (
    <p class="hidden" role="status" id="news">
      {words.current}
    </p>
  );
};
