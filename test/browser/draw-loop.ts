import {
  alarm,
  background,
  border,
  box,
  escape,
  FONT,
  foreground,
  label,
  phaseBox,
  round,
  type Snapshot,
} from '../../src/cli/fleet/index.ts';
import { phaseStyles } from '../../src/view/index.ts';
import { phases } from '../../src/words/index.ts';

/** A part of the story: its snapshots, in the order in which they were taken. */
export interface Scene {
  caption: string;
  /** How long its last frame stays, of the seconds of the scene. */
  holdSeconds: number;
  seconds: number;
  snapshots: readonly Snapshot[];
}

const CELL = 34;
const STEP = 40;
const NAME_WIDTH = 92;
const MARGIN = 28;
const GRID_TOP = 66;
const SLOT = 26;
const MOST_FRAMES = 24;

interface Frame {
  at: number;
  caption: string;
  snapshot: Snapshot;
}

/** The town of `berlin-07`. */
const townOf = (node: string): string => node.replace(/-\d+$/, '');

const looks = ({ nodes, budget, halted }: Snapshot): string =>
  JSON.stringify([nodes.map(({ phase }) => phase), budget, halted]);

/** Without those that look like the one before, and few enough to be told apart. The last one stays. */
const chosen = (snapshots: readonly Snapshot[]): Snapshot[] => {
  const different = snapshots.filter((each, index) => {
    const before = snapshots[index - 1];
    return !before || looks(each) !== looks(before);
  });
  const every = Math.ceil(different.length / MOST_FRAMES);
  return different.filter((_, index) => (different.length - 1 - index) % every === 0);
};

const framesOf = (scenes: readonly Scene[]): Frame[] => {
  let from = 0;
  return scenes.flatMap(({ caption, seconds, holdSeconds, snapshots }) => {
    const kept = chosen(snapshots);
    const each = (seconds - holdSeconds) / Math.max(1, kept.length - 1);
    const frames = kept.map((snapshot, index) => ({ at: from + index * each, caption, snapshot }));
    from += seconds;
    return frames;
  });
};

const countsText = ({ counts }: Snapshot): string =>
  phases.flatMap((phase) => (counts[phase] ? [`${counts[phase]} ${phase}`] : [])).join(' · ');

const budgetText = ({ budget }: Snapshot): string => `budget: ${budget.inUse} of ${budget.limit} in use`;

/** Draws the scenes as an SVG that repeats them. Who wants no motion sees the end of scene `still`. */
export const drawLoop = (scenes: readonly Scene[], still: number): string => {
  const frames = framesOf(scenes);
  const total = scenes.reduce((sum, { seconds }) => sum + seconds, 0);
  const names = frames[0]?.snapshot.nodes.map(({ name }) => name) ?? [];
  const towns = [...new Set(names.map(townOf))];
  const across = Math.max(...towns.map((town) => names.filter((name) => townOf(name) === town).length));
  const inner = Math.max(620, NAME_WIDTH + across * STEP - (STEP - CELL));
  const bottom = GRID_TOP + towns.length * STEP + 22;
  const width = inner + 2 * MARGIN;
  const height = MARGIN + bottom + 34 + MARGIN;
  const placeOf = (name: string): { x: number; y: number } => {
    const town = townOf(name);
    const column = names.filter((each) => townOf(each) === town).indexOf(name);
    return { x: NAME_WIDTH + column * STEP, y: GRID_TOP + towns.indexOf(town) * STEP };
  };

  /** What is drawn over the frame before: only what differs. */
  const drawFrame = ({ caption, snapshot }: Frame, before: Frame | undefined): string => {
    const { nodes, budget, halted } = snapshot;
    const cells = nodes.flatMap(({ name, phase }, index) => {
      if (!phase || before?.snapshot.nodes[index]?.phase === phase) return [];
      const { x, y } = placeOf(name);
      return [`<use href="#${phase}" x="${x}" y="${y}"/>`];
    });
    const redraw = (text: string, last: string | undefined, area: string, drawn: () => string): string[] =>
      text === last ? [] : [area, drawn()];
    const fill = halted ? alarm : foreground;
    const slots = (): string =>
      Array.from({ length: budget.limit }, (_, slot) => {
        const color = phaseStyles[halted ? 'failed' : 'updating'].light.color;
        return box(slot * SLOT, bottom + 2, SLOT - 4, 14, 3, slot < budget.inUse ? color : border);
      }).join('') + label(budget.limit * SLOT + 8, bottom + 14, budgetText(snapshot));
    const state = (each: Frame): string => `${each.caption}${each.snapshot.halted}`;
    return [
      ...redraw(
        state({ at: 0, caption, snapshot }),
        before && state(before),
        box(0, -6, inner, 30, 0, background),
        () => label(0, 16, caption, { size: 20, weight: 600, fill }),
      ),
      ...redraw(countsText(snapshot), before && countsText(before.snapshot), box(0, 28, inner, 24, 0, background), () =>
        label(0, 44, countsText(snapshot), { size: 15 }),
      ),
      ...cells,
      ...redraw(
        `${budgetText(snapshot)}${halted}`,
        before && `${budgetText(before.snapshot)}${before.snapshot.halted}`,
        box(0, bottom, inner, 22, 0, background),
        slots,
      ),
    ].join('');
  };

  const stillAt = scenes.slice(0, still + 1).reduce((sum, { seconds }) => sum + seconds, 0);
  const drawn = frames.map((frame, index) => {
    const later = frame.at >= stillAt ? ' visibility="hidden"' : '';
    return `<g id="f${index}"${later}>${drawFrame(frame, frames[index - 1])}</g>`;
  });
  const keyframes = frames.flatMap(({ at }, index) => {
    if (index === 0) return [];
    const share = round((100 * at) / total);
    return `@keyframes k${index}{0%{visibility:hidden}${share}%,100%{visibility:visible}}#f${index}{animation:k${index} ${total}s step-end infinite}`;
  });
  const used = phases.filter((phase) =>
    frames.some(({ snapshot }) => snapshot.nodes.some((node) => node.phase === phase)),
  );
  // What a cell showed before must not shine through a hollow mark.
  const marks = used.map(
    (phase) => `<g id="${phase}">${box(-1, -1, CELL + 2, CELL + 2, 0, background)}${phaseBox(phase, 0, 0, CELL)}</g>`,
  );
  const title = escape(
    scenes
      .map(({ caption, snapshots }) => {
        const last = snapshots.at(-1);
        return `${caption}: at the end, ${last ? countsText(last) : 'nothing'}`;
      })
      .join('. '),
  );
  const legend = used.map(
    (phase, index) => phaseBox(phase, index * 104, bottom + 31, 17) + label(index * 104 + 24, bottom + 45, phase),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}" font-family="${FONT}">
<title>${title}</title>
<style>@media (prefers-reduced-motion:no-preference){${keyframes.join('\n')}}</style>
<defs>${marks.join('\n')}</defs>
${box(0.5, 0.5, width - 1, height - 1, 12, background, ` stroke="${border}"`)}
<g transform="translate(${MARGIN} ${MARGIN})">
${towns.map((town, row) => label(0, GRID_TOP + row * STEP + 22, town, { size: 15 })).join('')}
${drawn.join('\n')}
${legend.join('')}
</g>
</svg>
`;
};
