import { signal } from '@preact/signals';
import { go, linkTo, route } from '../route.ts';
import { isOut } from '../session.ts';
import { cellOf, groups, nodeNames } from '../store.ts';
import { leaveWall } from '../wall/wall.ts';
import { marked, neighborOf, nextOf } from './marked.ts';

/** The palette is open. */
export const isFinding = signal(false);
/** The list of keys is open. */
export const isAsking = signal(false);

const NAME = 'edgeset-dashboard-letters';

const storage = (act: (storage: Storage) => string | null | void): string => {
  try {
    return act(localStorage) || '';
  } catch {
    return '';
  }
};

/** Whether keys without Ctrl act. Some people talk to their computer, or type with a device that repeats letters. */
export const hasLetters = signal(storage((kept) => kept.getItem(NAME)) !== 'off');
export const setLetters = (isOn: boolean): void => {
  hasLetters.value = isOn;
  storage((kept) => (isOn ? kept.removeItem(NAME) : kept.setItem(NAME, 'off')));
};

const shownNodes = (): string[] => groups.value.flatMap(({ nodes }) => nodes.map(([name]) => name));

/** To the row of the next rollout that can be seen. */
const moveRow = (by: 1 | -1): void => {
  const rows = [...document.querySelectorAll('main tbody tr')].filter((row) => row.checkVisibility());
  const from = document.activeElement?.closest('tr') ?? undefined;
  const link = neighborOf(rows, from, by)?.querySelector('a');
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
};

const moveNode = (by: 1 | -1): void => {
  const { node } = route.value;
  const next = neighborOf(shownNodes(), node || marked.value || undefined, by);
  if (next === undefined) return;
  if (node !== '') go({ node: next });
  else if (route.value.tab === '') marked.value = next;
};

const move = (by: 1 | -1): void => (route.value.rollout ? moveNode(by) : moveRow(by));

/** Opens the next failed node: of those that are shown, or else of all. */
const openFailed = (): void => {
  const from = route.value.node || marked.value || undefined;
  const isFailed = (name: string): boolean => cellOf(name)?.[1] === 'failed';
  const node = nextOf(shownNodes(), from, isFailed) ?? nextOf(nodeNames.value, from, isFailed);
  if (node !== undefined) go({ node });
};

/** Closes what is open; the map continues at the node whose details were. */
const close = (): void => {
  const { node, tab } = route.value;
  if (node === '') {
    marked.value = '';
    leaveWall();
    return;
  }
  go({ node: '' });
  if (tab === '') marked.value = node;
};

const letters: Readonly<Record<string, () => void>> = {
  '/': () => {
    isFinding.value = true;
  },
  '?': () => {
    isAsking.value = true;
  },
  j: () => move(1),
  k: () => move(-1),
  f: openFailed,
};

/** `g` waits for the next key, which says where to. */
const places: Readonly<Record<string, () => void>> = {
  o: () => {
    location.hash = linkTo(undefined);
  },
};

let isGoing = false;

const isBusy = (target: EventTarget | null): boolean => {
  if (document.querySelector('dialog[open]')) return true;
  const field = target instanceof Element && target.closest('input, textarea, select, [contenteditable]');
  // A dialog that was just closed has the focus for another moment.
  return field !== false && field?.checkVisibility() === true;
};

const actOf = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): (() => void) | undefined => {
  const isModified = ctrlKey || metaKey || altKey;
  if (isModified) return key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey ? letters['/'] : undefined;
  if (key === 'Escape') return close;
  if (!hasLetters.value) return undefined;
  const wasGoing = isGoing;
  isGoing = key === 'g';
  return wasGoing ? places[key] : letters[key];
};

const onKey = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.isComposing || isOut.value || isBusy(event.target)) return;
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  act();
};

export const startKeys = (): void => addEventListener('keydown', onKey);
