/** Control characters, and those that reverse or hide other text. Joiners stay: scripts and emoji need them. */
const UNSEEN = /[^\P{Cc}\n]|[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

/** Without the characters that act on the text around them. Line breaks stay. */
export const withoutUnseen = (text: string): string =>
  text
    .replaceAll(/\r\n?|\u2028|\u2029/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(UNSEEN, '');

export const clip = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/** A text of others as one line for an owner; null for nothing. */
export const shownText = (written: string | undefined, longest: number): string | null => {
  if (typeof written !== 'string') return null;
  // Longer ones are not read to their end: spaces may be all that they consist of.
  const text = withoutUnseen(written.slice(0, 4 * longest))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text === '' ? null : clip(text, longest);
};
