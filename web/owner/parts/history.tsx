import { useState } from 'preact/hooks';
import type { Store } from '../store.ts';
import type { HistoryEntry } from '../types.ts';
import { sayDuration } from '../view/amount.ts';
import { textOf } from '../view/reasons.ts';

const FIRST = 5;

/** What the code of the entry does not say. */
const detailOf = (store: Store, { choice, reason, tookSeconds }: HistoryEntry): string => {
  const { history, failures, language } = store.text;
  if (tookSeconds !== undefined) return history.took(sayDuration(tookSeconds, language));
  if (reason !== undefined) return textOf(failures, reason) ?? '';
  if (choice?.choice === 'postpone') return history.until(store.moments.value.say(Date.parse(choice.until)));
  if (choice?.choice !== 'approve') return '';
  const { when } = choice;
  if (when.type === 'window') return history.window(when.from, when.to);
  return when.type === 'safe' ? history.safe : history.at;
};

const Line = ({ store, entry }: { store: Store; entry: HistoryEntry }) => {
  const { history } = store.text;
  const who = entry.who === 'agent' ? history.byDevice : history.byPerson;
  const detail = detailOf(store, entry);
  return (
    <li>
      <p class="history-what">
        <strong>{entry.daemonSet}</strong>: {textOf(history.what, entry.what) ?? history.other}
      </p>
      {detail !== '' && <p class="history-result">{detail}</p>}
      <p class="history-when">
        <time dateTime={entry.at}>{store.moments.value.say(Date.parse(entry.at))}</time>, {who}
      </p>
    </li>
  );
};

export const History = ({ store }: { store: Store }) => {
  const { text } = store;
  const [all, setAll] = useState(false);
  const entries = store.history.value;
  const shown = all ? entries : entries.slice(0, FIRST);
  return (
    <section aria-labelledby="history">
      <h2 id="history">{text.history.heading}</h2>
      {entries.length === 0 ? (
        <p class="lead">{text.history.empty}</p>
      ) : (
        <ul class="history">
          {shown.map((entry) => (
            <Line key={`${entry.at} ${entry.namespace}/${entry.daemonSet} ${entry.what}`} store={store} entry={entry} />
          ))}
        </ul>
      )}
      {entries.length > FIRST && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? text.history.fewer : text.history.all(entries.length)}
        </button>
      )}
    </section>
  );
};
