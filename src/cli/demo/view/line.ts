/** How a piece of text is highlighted. */
export type Style =
  | { kind: 'plain' | 'bold' | 'dim' | 'accent' | 'warning' | 'good' | 'bad' }
  | { kind: 'cell'; background: number; text: number };

export interface Piece {
  text: string;
  style?: Style;
}

/** One line, before it is cut to the width of the screen. */
export type Line = readonly Piece[];

const RESET = '\u001B[0m';
const codes = { plain: '', bold: '1', dim: '2', accent: '38;5;33', warning: '33', good: '32', bad: '1;31' } as const;

const codeOf = (style: Style): string =>
  style.kind === 'cell' ? `48;5;${style.background};38;5;${style.text}` : codes[style.kind];

const lengthOf = (text: string): number => Array.from(text).length;

export const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + lengthOf(text), 0);

/** The first `width` columns of a line; a longer line ends with an ellipsis. */
export const cut = (line: Line, width: number): Line => {
  if (widthOf(line) <= width) return line;
  let left = Math.max(0, width - 1);
  const kept: Piece[] = [];
  for (const piece of line) {
    const characters = Array.from(piece.text).slice(0, left);
    left -= characters.length;
    if (characters.length > 0) kept.push({ ...piece, text: characters.join('') });
    if (left === 0) break;
  }
  return width > 0 ? [...kept, { text: '…' }] : [];
};

/** Pads a line with spaces. */
export const padded = (line: Line, width: number): Line => {
  const missing = width - widthOf(line);
  return missing > 0 ? [...line, { text: ' '.repeat(missing) }] : line;
};

export const toText = (line: Line, color: boolean): string =>
  line
    .map(({ text, style = { kind: 'plain' } }) => {
      const code = color ? codeOf(style) : '';
      return code === '' ? text : `\u001B[${code}m${text}${RESET}`;
    })
    .join('')
    .trimEnd();

/** Breaks text at spaces into lines of at most `width` columns. A longer word gets a line of its own. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
