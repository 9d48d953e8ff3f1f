import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Store } from '../store.ts';
import type { Update } from '../types.ts';

/** What changes, in the administrator's words: their first lines, and all of them on demand. */
export const Notes = ({ store, update }: { store: Store; update: Update }) => {
  const { text } = store;
  const { notes } = update.target;
  const [all, setAll] = useState(false);
  const [isCut, setCut] = useState(false);
  const words = useRef<HTMLParagraphElement>(null);
  // Only the browser knows how many lines there are.
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = words.current ?? {};
    if (!all) setCut(scrollHeight > clientHeight + 1);
  });
  if (notes === null || update.state === 'current' || update.state === 'halted') return null;
  return (
    <div class="notes">
      <div class="notes-head">
        <p class="notes-title">{text.notes.title}</p>
        {isCut && (
          <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? text.notes.less : text.notes.more}
            <span class="hidden">{text.forApp(update.daemonSet)}</span>
          </button>
        )}
      </div>
      <p ref={words} class={all ? 'notes-text' : 'notes-text notes-short'} dir="auto">
        {notes}
      </p>
    </div>
  );
};
