import { eastAsianWidth } from 'get-east-asian-width';

/** The columns that a character takes: two if it is wide in East Asia, none if it joins the one before. */
const columnsOfCharacter = (character: string): number =>
  /^[\p{Mark}\p{Default_Ignorable_Code_Point}]$/u.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);

/** The columns that a text takes on a terminal. */
export const columnsOf = (text: string): number => {
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(text).reduce((sum, character) => sum + columnsOfCharacter(character), 0);
};

/** The beginning of a text that fits into this many columns. */
export const cutTo = (text: string, columns: number): string => {
  let left = columns;
  let end = 0;
  for (const character of text) {
    left -= columnsOfCharacter(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
};

/** Words, and commands in quotes: one that is broken can't be copied. */
const UNBREAKABLE = /"(?:kubectl|edgeset|npx) [^"]*"[^ ]*|[^ ]+/g;

/** Breaks text at spaces into lines of at most `width` columns. A longer word gets its own line. */
export const wrap = (text: string, width: number): string[] => {
  if (text === '') return [''];
  const lines: string[] = [];
  const words = Array.from(text.matchAll(UNBREAKABLE), ([word]) => word);
  for (const word of words.flatMap((one) => (columnsOf(one) > width ? one.split(' ') : [one]))) {
    const last = lines.at(-1);
    if (last !== undefined && columnsOf(last) + 1 + columnsOf(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
