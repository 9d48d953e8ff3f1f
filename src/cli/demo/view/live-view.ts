import { drawFrame } from './frame.ts';
import { type Line, toText } from './line.ts';
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

export const createLiveView = ({ write, screen, unicode, speed }: LiveViewOptions): View => {
  const region = createLiveRegion(write, screen);
  let drawn: readonly string[] = [];
  const text = (lines: readonly Line[]): string[] => lines.map((line) => toText(line, true));
  const mark = (passed: boolean): Line => [
    passed
      ? { text: unicode ? ' ✓ ' : ' + ', style: { kind: 'good' } }
      : { text: unicode ? ' ✗ ' : ' x ', style: { kind: 'bad' } },
  ];
  const verdict = (passed: boolean, title: string, words: string): void =>
    region.above(
      text([[...mark(passed), { text: title }, { text: `: ${words}`, style: { kind: passed ? 'dim' : 'bad' } }]]),
    );
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
    failed: ({ title }, why) => verdict(false, title, why),
    close() {
      region.close();
      drawn = [];
    },
  };
};
