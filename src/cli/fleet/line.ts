import { escapeLine } from '../../text/index.ts';
import { columnsOf, cutTo, type Tone } from '../../view/index.ts';
import { codes } from '../color.ts';

/** How a piece of text is highlighted. */
export type Style = { kind: Tone | 'plain' } | { kind: 'cell'; background: number; text: number };

export interface Piece {
  text: string;
  style?: Style;
}

/** One line, before it is cut to the width of the screen. */
export type Line = readonly Piece[];

/** A piece of text, which may come from the cluster. */
export const piece = (text: string, kind: Exclude<Style['kind'], 'cell'> = 'plain'): Piece => ({
  text: escapeLine(text),
  style: { kind },
});

const RESET = '\u001B[0m';
const codeOf = (style: Style): string => {
  if (style.kind === 'cell') return `48;5;${style.background};38;5;${style.text}`;
  return style.kind === 'plain' ? '' : codes[style.kind];
};

export const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + columnsOf(text), 0);

/** The first `width` columns of a line; a longer line ends with an ellipsis. */
export const cut = (line: Line, width: number): Line => {
  if (widthOf(line) <= width) return line;
  let left = Math.max(0, width - 1);
  const kept: Piece[] = [];
  for (const whole of line) {
    const text = cutTo(whole.text, left);
    left -= columnsOf(text);
    if (text !== '') kept.push({ ...whole, text });
    if (text !== whole.text) break;
  }
  return width > 0 ? [...kept, { text: '…' }] : [];
};

/** Pads a line with spaces. */
export const padded = (line: Line, width: number): Line => {
  const missing = width - widthOf(line);
  return missing > 0 ? [...line, { text: ' '.repeat(missing) }] : line;
};

const plain: Style = { kind: 'plain' };

export const toText = (line: Line, color: boolean): string => {
  let text = '';
  let code = '';
  for (const { text: next, style = plain } of line) {
    if (next === '') continue;
    const wanted = color ? codeOf(style) : '';
    // Cells of one phase are often neighbors: a code for each would be most of what is written.
    if (wanted !== code) text += `${code === '' ? '' : RESET}${wanted === '' ? '' : `\u001B[${wanted}m`}`;
    code = wanted;
    text += next;
  }
  return code === '' ? text.trimEnd() : text + RESET;
};
