import { useState } from 'preact/hooks';
import type { Store } from '../store.ts';
import type { HistoryEntry } from '../types.ts';
import { sayTimes } from '../view/moment.ts';

const FIRST = 5;

const Line = ({ store, entry }: { store: Store; entry: HistoryEntry }) => {
  const { text } = store;
  const who = entry.who === 'agent' ? text.history.who.agent : text.history.who.person;
  return (
    <li>
      <p class="history-what">
        <strong>{entry.daemonSet}</strong>: {text.history.what[entry.what] ?? entry.what}
      </p>
      <p class="history-result">{sayTimes(entry.result, store.moments.value)}</p>
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
