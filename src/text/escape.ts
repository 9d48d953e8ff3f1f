/**
 * Characters that act on a terminal instead of being shown: control characters, among them the 8-bit ones that terminals
 * read as escape sequences, line and paragraph separators, and the marks that reverse the order of text.
 */
const ACTIVE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
/** All of them but the newlines and tabs of a text that was put together from escaped lines. */
const ACTIVE_IN_TEXT = /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeCharacter = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text of the cluster as part of one line: `\n` and `\u001b` are shown as such. */
export const escapeLine = (text: string): string => text.replace(ACTIVE, escapeCharacter);

/** A text of several lines, in which newlines and tabs are the program's own. */
export const escapeText = (text: string): string => text.replace(ACTIVE_IN_TEXT, escapeCharacter);

/** Lines of output. A newline inside of one does not begin another one. */
export const toLines = (...lines: readonly string[]): string => lines.map((line) => `${escapeLine(line)}\n`).join('');

/** A message whose further lines, if any, are indented, so that none of them looks like output of its own. */
export const toMessage = (text: string): string =>
  text
    .split(/\r?\n|\r/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .map((line, index) => `${index === 0 ? '' : '  '}${escapeLine(line)}\n`)
    .join('');

/** Whether a text must be escaped where it is data. */
export const isActive = (text: string): boolean => text.search(ACTIVE) >= 0;
