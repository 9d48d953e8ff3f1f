// The key of a dashboard on the user's own machine, and the code in the address, which nothing else sees.

/** Of this dashboard: another one on this machine has another port. */
const NAME = `edgeset-dashboard-key-${location.host}`;
/** What a tab without the key sends to the others. No key looks like it. */
const QUESTION = '?';

let code = '';
let held = '';
let refused = '';
let onChange = (): void => undefined;

/** An address of the dashboard is `#code=CODE`, and then what it shows. It works once. */
const takeCode = (): void => {
  const [, found, shown = ''] = /^#code=([\w-]*)(\/.*)?$/.exec(location.hash) ?? [];
  if (found === undefined) return;
  history.replaceState(null, '', `#${shown || '/'}`);
  code = found;
};

/** A browser that keeps nothing for this site can't reload the page. */
const stored = (act: (storage: Storage) => string | null | void): string => {
  try {
    return act(sessionStorage) || '';
  } catch {
    return '';
  }
};

takeCode();
held = stored((storage) => storage.getItem(NAME));

const tabs = new BroadcastChannel(NAME);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches pages of this origin only
const tell = (message: string): void => tabs.postMessage(message);
const keep = (key: string): void => {
  held = key;
  stored((storage) => storage.setItem(NAME, key));
};

tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (data === QUESTION && held !== '') tell(held);
  if (typeof data !== 'string' || data === QUESTION || held !== '' || data === refused) return;
  keep(data);
  onChange();
});

// Somebody opens an address in a tab that is at the dashboard already.
addEventListener('hashchange', () => {
  takeCode();
  if (code !== '') onChange();
});

/** What the address shows: its fragment, without a code. */
export const fragment = (): string => {
  takeCode();
  return location.hash;
};

/** Called when another tab has given the key, or there is another code. */
export const whenKeyChanges = (act: () => void): void => {
  onChange = act;
};

/** The code, once; empty if there is none. */
export const givenCode = (): string => {
  const given = code;
  code = '';
  return given;
};

export const hasKey = (): boolean => held !== '';

/** Also gives it to the tabs that have none. */
export const holdKey = (key: string): void => {
  keep(key);
  tell(key);
};

/** The dashboard has refused it. */
export const dropKey = (): void => {
  if (held !== '') refused = held;
  held = '';
  stored((storage) => storage.removeItem(NAME));
};

/** Asks the other tabs for the key. */
export const askTabs = (): void => tell(QUESTION);

export const keyHeaders = (): Record<string, string> => (held === '' ? {} : { authorization: `Bearer ${held}` });
