import { signal } from '@preact/signals';

/** The node that the keyboard is at; empty for none. Not in the address: it moves with every key. */
export const marked = signal('');

/** The one after or before `from`, without wrapping around; the first, or the last, if it is not among them. */
export const neighborOf = <T>(all: readonly T[], from: T | undefined, by: 1 | -1): T | undefined => {
  const at = from === undefined ? -1 : all.indexOf(from);
  if (at < 0) return all.at(by === 1 ? 0 : -1);
  return all[Math.max(0, Math.min(all.length - 1, at + by))];
};

/** The next one after `from` that is wanted, from the start again after the end. */
export const nextOf = <T>(all: readonly T[], from: T | undefined, isWanted: (one: T) => boolean): T | undefined => {
  const at = from === undefined ? -1 : all.indexOf(from);
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(isWanted);
};
