import { Icon } from '../../icon.tsx';
import type { Store } from '../store.ts';
import { keyOf } from '../store.ts';
import type { Update } from '../types.ts';
import { isWithheld } from '../view/choices.ts';
import { Administrator } from './administrator.tsx';
import { Announcer } from './announcer.tsx';
import { AppCard } from './app-card.tsx';
import { Banners } from './banners.tsx';
import { Header } from './header.tsx';
import { History } from './history.tsx';

/** First the apps that need a decision, then updates in progress, then all others. */
const RANK: Readonly<Record<Update['state'], number>> = {
  available: 0,
  failed: 1,
  unknown: 2,
  updating: 3,
  queued: 4,
  postponed: 5,
  halted: 6,
  rejected: 7,
  current: 8,
};

/**
 * Keeps the order of the cards while they are on the page: if a card moved under a finger, another app's button would be
 * pressed.
 */
const order: string[] = [];

const inOrder = (updates: readonly Update[]): Update[] => {
  const fresh = updates.filter((update) => !order.includes(keyOf(update)));
  const ranked = fresh.toSorted((a, b) => RANK[a.state] - RANK[b.state] || keyOf(a).localeCompare(keyOf(b)));
  order.push(...ranked.map((update) => keyOf(update)));
  return updates.toSorted((a, b) => order.indexOf(keyOf(a)) - order.indexOf(keyOf(b)));
};

const Summary = ({ store }: { store: Store }) => {
  const { text } = store;
  const updates = store.updates.value;
  if (updates.length === 0) {
    return (
      <div class="calm">
        <Icon name="check" />
        <div>
          <p class="calm-title">{text.summary.noApps}</p>
          <p>{text.summary.noAppsText}</p>
        </div>
      </div>
    );
  }
  if (updates.some(({ state }) => state !== 'current')) return null;
  const isNew = updates.some(isWithheld);
  return (
    <div class="calm">
      <Icon name="check" />
      <div>
        <p class="calm-title">{isNew ? text.summary.nothingToDecide : text.summary.nothingNew}</p>
        <p>{isNew ? text.summary.nothingToDecideText : text.summary.nothingNewText}</p>
      </div>
    </div>
  );
};

const Apps = ({ store }: { store: Store }) => {
  const { text } = store;
  const updates = store.updates.value;
  const names = updates.map(({ daemonSet }) => daemonSet);
  const toDecide = updates.filter(({ state }) => state === 'available').length;
  return (
    <section aria-labelledby="apps">
      <h2 id="apps">{toDecide > 0 ? text.summary.toDecide(toDecide) : text.summary.heading}</h2>
      <Summary store={store} />
      {inOrder(updates).map((update) => (
        <AppCard
          key={keyOf(update)}
          store={store}
          update={update}
          alone={names.indexOf(update.daemonSet) === names.lastIndexOf(update.daemonSet)}
        />
      ))}
    </section>
  );
};

export const Page = ({ store }: { store: Store }) => {
  const { text } = store;
  const device = store.device.value;
  return (
    <>
      <Header store={store} />
      <main>
        <Banners store={store} />
        {device === null ? (
          store.link.value === 'loading' && <p class="lead">{text.agent.loading}</p>
        ) : (
          <Apps store={store} />
        )}
        {device !== null && <History store={store} />}
      </main>
      {device !== null && (
        <footer>
          <Administrator store={store} />
          {device.displayName !== null && <p>{text.nodeNote(device.node)}</p>}
          <p>{text.timeNote(store.timeZone.value)}</p>
        </footer>
      )}
      <Announcer store={store} />
    </>
  );
};
