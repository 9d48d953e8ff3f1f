import { type Phase, phases } from '../../rollout/index.ts';
import type { NodeCell, Scene } from './scene.ts';
import { phaseLooks } from './view/phase-look.ts';

/** A scene that is kept for the picture. */
export interface Snapshot {
  caption: string;
  scene: Scene;
}

// The card brings its own ground, so that it reads the same on light and dark pages.
const ground = '#10161d';
const edge = '#303942';
const text = '#e6edf3';
const faint = '#9aa7b4';
const alarm = '#ff7b72';
const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

const PANEL_WIDTH = 400;
const MARGIN = 28;
const GRID_TOP = 84;
const GAP = 6;
const SMALLEST_GAP = 2;
const ACROSS = 8;

const round = (length: number): number => Math.round(length * 100) / 100;

const escape = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

interface TextOptions {
  size: number;
  fill?: string;
  weight?: number;
  anchor?: 'start' | 'middle' | 'end';
}
const label = (
  x: number,
  y: number,
  words: string,
  { size, fill = text, weight = 400, anchor = 'start' }: TextOptions,
) =>
  `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${escape(words)}</text>`;

const box = (x: number, y: number, width: number, height: number, radius: number, fill: string, more = ''): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"${more}/>`;

/** A phase's mark, drawn and not written: fonts differ in which of the glyphs they have. */
const mark = (phase: Phase, x: number, y: number, size: number): string => {
  const { ink } = phaseLooks[phase];
  const unit = size / 10;
  const at = (dx: number, dy: number): string => `${(x + dx * unit).toFixed(1)} ${(y + dy * unit).toFixed(1)}`;
  const stroke = `fill="none" stroke="${ink}" stroke-width="${unit.toFixed(2)}" stroke-linecap="round" stroke-linejoin="round"`;
  const path = (d: string): string => `<path d="${d}" ${stroke}/>`;
  const dot = (dx: number, dy: number): string =>
    `<circle cx="${(x + dx * unit).toFixed(1)}" cy="${(y + dy * unit).toFixed(1)}" r="${(unit * 0.75).toFixed(2)}" fill="${ink}"/>`;
  switch (phase) {
    case 'updated':
      return path(`M${at(2.6, 5.2)} L${at(4.4, 7)} L${at(7.6, 3.2)}`);
    case 'updating':
      return path(`M${at(5, 7.4)} L${at(5, 2.8)} M${at(3, 4.6)} L${at(5, 2.6)} L${at(7, 4.6)}`);
    case 'failed':
      return path(`M${at(3.2, 3.2)} L${at(6.8, 6.8)} M${at(6.8, 3.2)} L${at(3.2, 6.8)}`);
    case 'offline':
      return path(`M${at(3, 5)} L${at(7, 5)}`);
    case 'broken':
      return path(`M${at(5, 2.6)} L${at(5, 5.6)}`) + dot(5, 7.4);
    case 'held':
      return path(`M${at(3.9, 3.2)} L${at(3.9, 6.8)} M${at(6.1, 3.2)} L${at(6.1, 6.8)}`);
    case 'settling':
      return dot(2.8, 5) + dot(5, 5) + dot(7.2, 5);
    case 'missing':
      return path(`M${at(3, 3)} L${at(7, 3)} L${at(7, 7)} L${at(3, 7)} Z`);
    case 'outdated':
      return dot(5, 5);
  }
};

const cell = ({ name, phase }: NodeCell, x: number, y: number, size: number): string => {
  if (!phase) return box(x, y, size, size, round(size / 6), edge);
  const { fill } = phaseLooks[phase];
  return `<g><title>${escape(`${name}: ${phase}`)}</title>${box(x, y, size, size, round(size / 6), fill)}${mark(phase, x, y, size)}</g>`;
};

const budgetBar = ({ budget, halted }: Scene, y: number): string => {
  const slots = Math.max(1, budget.limit);
  const start = 62;
  const width = PANEL_WIDTH - start - 100;
  const gap = slots > 20 ? 0 : 4;
  const each = (width - gap * (slots - 1)) / slots;
  const bars = Array.from({ length: slots }, (_, slot) => {
    const used = slot < budget.inUse;
    const fill = used ? (halted ? phaseLooks.failed.fill : phaseLooks.updating.fill) : edge;
    return box(round(start + slot * (each + gap)), y - 11, round(each), 14, gap > 0 ? 3 : 0, fill);
  });
  const words = `${budget.inUse} of ${budget.limit} in use`;
  return (
    label(0, y, 'budget', { size: 14, fill: faint }) +
    bars.join('') +
    label(PANEL_WIDTH, y, words, { size: 14, fill: faint, anchor: 'end' })
  );
};

const headlineOf = ({ counts, halted, nodes }: Scene): string => {
  const number = (phase: Phase): number => counts[phase] ?? 0;
  if (halted)
    return `${number('failed')} of ${nodes.length} nodes lost; ${number('outdated')} keep serving the good version`;
  return `${number('updated')} updated, ${number('updating')} at work, ${number('offline')} offline and skipped`;
};

interface Layout {
  across: number;
  size: number;
  gap: number;
  height: number;
}
const layout = (nodes: number): Layout => {
  const across = Math.max(ACROSS, Math.ceil(Math.sqrt(nodes * 1.6)));
  const gap = across > 20 ? SMALLEST_GAP : GAP;
  const size = (PANEL_WIDTH - gap * (across - 1)) / across;
  return { across, size, gap, height: Math.ceil(nodes / across) * (size + gap) - gap };
};

const panel = ({ caption, scene }: Snapshot): string => {
  const { across, size, gap, height } = layout(scene.nodes.length);
  const place = (index: number): number => round(index * (size + gap));
  const cells = scene.nodes.map((node, index) =>
    cell(node, place(index % across), GRID_TOP - MARGIN + place(Math.floor(index / across)), round(size)),
  );
  return [
    label(0, 14, caption, { size: 19, weight: 600, ...(scene.halted && { fill: alarm }) }),
    label(0, 38, headlineOf(scene), { size: 14, fill: faint }),
    ...cells,
    budgetBar(scene, Math.round(GRID_TOP - MARGIN + height + 32)),
  ].join('\n');
};

const legend = (snapshots: readonly Snapshot[], width: number): string => {
  const present = phases.filter((phase) => snapshots.some(({ scene }) => (scene.counts[phase] ?? 0) > 0));
  const each = Math.min(110, width / Math.max(1, present.length));
  return present
    .map((phase, index) => {
      const x = index * each;
      return (
        box(x, -13, 17, 17, 3, phaseLooks[phase].fill) +
        mark(phase, x, -13, 17) +
        label(x + 24, 1, phase, { size: 14, fill: faint })
      );
    })
    .join('\n');
};

/** The scenes side by side as an SVG: one cell a node, as they were. */
export const drawPicture = (snapshots: readonly Snapshot[]): string => {
  const largest = Math.round(Math.max(...snapshots.map(({ scene }) => layout(scene.nodes.length).height)));
  const between = 56;
  const inner = snapshots.length * PANEL_WIDTH + (snapshots.length - 1) * between;
  const width = inner + 2 * MARGIN;
  const legendY = GRID_TOP + largest + 86;
  const height = legendY + 22;
  const words = snapshots.map(({ caption, scene }) => `${caption}: ${headlineOf(scene)}`).join('. ');
  const panels = snapshots.map(
    (snapshot, index) =>
      `<g transform="translate(${MARGIN + index * (PANEL_WIDTH + between)} ${MARGIN})">\n${panel(snapshot)}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(words)}" font-family="${FONT}">
<title>${escape(words)}</title>
${box(0.5, 0.5, width - 1, height - 1, 12, ground, ` stroke="${edge}"`)}
${panels.join('\n')}
<path d="M${MARGIN} ${legendY - 34} H${width - MARGIN}" stroke="${edge}"/>
<g transform="translate(${MARGIN} ${legendY})">
${legend(snapshots, inner)}
</g>
</svg>
`;
};
