export const ESC = '\u001B[';
/** A control sequence, or any other character. */
const sequence = new RegExp(`${RegExp.escape(ESC)}([?\\d;]*)([A-Za-z])|([\\s\\S])`, 'g');

/** A terminal with the control sequences that the region uses. */
export const terminal = (columns: number, rows: number) => {
  let screen: string[] = [''];
  let row = 0;
  let column = 0;
  let cursor = true;
  let wraps = true;
  const size = { columns, rows };
  const control = (final: string, number: string): void => {
    if (final === 'A') row = Math.max(0, row - Number(number));
    else if (final === 'K') screen[row] = (screen[row] ?? '').slice(0, column);
    else if (final === 'J' && number === '2') screen = [''];
    else if (final === 'J') screen = [...screen.slice(0, row), (screen[row] ?? '').slice(0, column)];
    else if (final === 'H') [row, column] = [0, 0];
    else if (number === '?25') cursor = final === 'h';
    else if (number === '?7') wraps = final === 'h';
  };
  const put = (character: string): void => {
    if (character === '\r') column = 0;
    else if (character === '\n') {
      row += 1;
      column = 0;
      if (row === screen.length) screen.push('');
    } else {
      const line = (screen[row] ?? '').padEnd(column);
      screen[row] = line.slice(0, column) + character + line.slice(column + 1);
      column += 1;
    }
  };
  return {
    size,
    write: (text: string): void => {
      for (const [, number = '', final, character] of text.matchAll(sequence)) {
        if (final !== undefined) control(final, number);
        else if (character !== undefined) put(character);
      }
    },
    lines: () => screen.map((line) => line.trimEnd()),
    isRestored: () => cursor && wraps,
  };
};
