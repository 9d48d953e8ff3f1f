import { drawFrame } from './frame.ts';
import { type Line, toText, wrap } from './line.ts';
import { createLiveRegion, type Screen } from './live-region.ts';
import type { View } from './view.ts';

export interface LiveViewOptions {
  write: (text: string) => void;
  screen: () => Screen;
  /** Glyphs beyond ASCII can be drawn. */
  unicode: boolean;
  speed: number;
}

/** A sentence is read in so long. */
const READING_MS = 1600;
const INDENT = '   ';

export const createLiveView = ({ write, screen, unicode, speed }: LiveViewOptions): View => {
  const region = createLiveRegion(write, screen);
  let drawn: readonly string[] = [];
  const text = (lines: readonly Line[]): string[] => lines.map((line) => toText(line, true));
  const verdict = (passed: boolean, title: string, words: string): void => {
    // The last column stays free: what clears the rest of a full line would take its last letter.
    const glyph = passed ? (unicode ? ' ✓ ' : ' + ') : unicode ? ' ✗ ' : ' x ';
    const [first = '', ...more] = wrap(`${title}: ${words}`, screen().columns - INDENT.length - 1);
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
    show(playing, scene) {
      const { columns, rows } = screen();
      drawn = text(drawFrame(playing, scene, { columns, rows: rows - 1, unicode }));
      region.draw(drawn);
    },
    passed: ({ title }, seen) => verdict(true, title, seen),
    failed({ title }, why) {
      verdict(false, title, why);
      // How it looked when it failed is worth more than a clean screen.
      region.leave();
      drawn = [];
    },
    close() {
      region.close();
      drawn = [];
    },
  };
};
