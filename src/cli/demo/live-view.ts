import { wrap } from '../../view/index.ts';
import { drawFrame, type Line, padded, piece, toText, widthOf } from '../fleet/index.ts';
import { createLiveRegion } from '../live-region.ts';
import type { LiveScreen } from '../terminal.ts';
import { formatLeft } from './text.ts';
import type { StepProgress, View } from './view.ts';

/** Time to read a step's text before anything happens. */
const READING_MS = 1600;
const INDENT = '   ';

const titleLine = ({ heading, step, steps, speed, leftMs }: StepProgress, width: number): Line => {
  const left = [piece('edgeset demo', 'bold'), piece(`  ${heading}`, 'dim')];
  const right = [piece(`step ${step} of ${steps}, ${formatLeft(leftMs)} left  time x${speed}`, 'dim')];
  return [...padded(left, width - widthOf(right)), ...right];
};

/** What is above the nodes: at least two lines of text, so that the picture rarely moves. */
const headOf = (progress: StepProgress, width: number, unicode: boolean): Line[] => {
  const text = wrap(progress.text, width);
  return [
    titleLine(progress, width),
    [],
    [piece(`${unicode ? '▶' : '>'} ${progress.title}`, 'bold')],
    ...Array.from({ length: Math.max(2, text.length) }, (_, index): Line => [piece(text[index] ?? '')]),
  ];
};

export const createLiveView = ({ write, screen, unicode }: LiveScreen, speed: number): View => {
  const region = createLiveRegion(write, screen);
  let drawn: readonly string[] = [];
  const text = (lines: readonly Line[]): string[] => lines.map((line) => toText(line, true));
  const printResult = (passed: boolean, title: string, result: string): void => {
    // Keep the last column free: clearing the rest of a full line would erase its last character.
    const glyph = passed ? (unicode ? ' ✓ ' : ' + ') : unicode ? ' ✗ ' : ' x ';
    const [first = '', ...more] = wrap(`${title}: ${result}`, screen().columns - INDENT.length - 1);
    region.above(
      text([
        [{ text: glyph, style: { kind: passed ? 'good' : 'bad' } }, { text: first }],
        ...more.map((line) => [{ text: INDENT + line }]),
      ]),
    );
  };
  return {
    readingMs: READING_MS / Math.max(1, speed / 10),
    say(lines) {
      if (drawn.length > 0) region.above(lines);
      else write(`${lines.join('\n')}\n`);
    },
    step: () => undefined,
    show(progress, snapshot) {
      const { columns, rows } = screen();
      const head = (width: number): Line[] => headOf(progress, width, unicode);
      drawn = text(drawFrame({ head }, snapshot, { columns, rows: rows - 1, unicode }));
      region.draw(drawn);
    },
    passed: ({ title }, seen) => printResult(true, title, seen),
    failed({ title }, why) {
      printResult(false, title, why);
      // The last picture is worth more than a clean screen.
      region.leave();
      drawn = [];
    },
    close() {
      region.close();
      drawn = [];
    },
  };
};
