import { phaseStyles } from '../../view/index.ts';
import { phases } from '../../words/index.ts';
import type { NodeState, Snapshot } from './snapshot.ts';
import { alarm, background, border, box, escape, FONT, foreground, label, phaseBox, round } from './svg.ts';

/** A snapshot for the picture. */
export interface Picture {
  caption: string;
  snapshot: Snapshot;
}

const PANEL_WIDTH = 400;
const BETWEEN_PANELS = 56;
const MARGIN = 28;
const GRID_TOP = 56;
const BUDGET_START = 62;
const LEAST_ACROSS = 8;

const cell = ({ name, phase }: NodeState, x: number, y: number, size: number): string =>
  phase
    ? `<g><title>${escape(`${name}: ${phase}`)}</title>${phaseBox(phase, x, y, size)}</g>`
    : box(x, y, size, size, round(size / 6), border);

const budgetBar = ({ budget, halted }: Snapshot, y: number): string => {
  const slots = Math.max(1, budget.limit);
  const gap = slots > 20 ? 0 : 4;
  const each = (PANEL_WIDTH - BUDGET_START - 100 - gap * (slots - 1)) / slots;
  const inUse = phaseStyles[halted ? 'failed' : 'updating'].light.color;
  const radius = gap > 0 ? 3 : 0;
  const bars = Array.from({ length: slots }, (_, slot) => {
    const x = round(BUDGET_START + slot * (each + gap));
    return box(x, y - 11, round(each), 14, radius, slot < budget.inUse ? inUse : border);
  });
  const text = `${budget.inUse} of ${budget.limit} in use`;
  return label(0, y, 'budget') + bars.join('') + label(PANEL_WIDTH, y, text, { anchor: 'end' });
};

const describe = ({ counts, halted, nodes }: Snapshot): string => {
  const { failed = 0, outdated = 0, updated = 0, updating = 0, offline = 0 } = counts;
  return halted
    ? `${failed} of ${nodes.length} nodes failed; ${outdated} keep running the good version`
    : `${updated} updated, ${updating} updating, ${offline} offline and skipped`;
};

const gridOf = (nodes: number) => {
  const across = Math.max(LEAST_ACROSS, Math.ceil(Math.sqrt(nodes * 1.6)));
  const gap = across > 20 ? 2 : 6;
  const size = (PANEL_WIDTH - gap * (across - 1)) / across;
  return { across, size, gap, height: Math.ceil(nodes / across) * (size + gap) - gap };
};

const panel = ({ caption, snapshot }: Picture): string => {
  const { nodes, halted } = snapshot;
  const { across, size, gap, height } = gridOf(nodes.length);
  const place = (index: number): number => round(index * (size + gap));
  const cells = nodes.map((node, index) =>
    cell(node, place(index % across), GRID_TOP + place(Math.floor(index / across)), round(size)),
  );
  return [
    label(0, 14, caption, { size: 19, weight: 600, fill: halted ? alarm : foreground }),
    label(0, 38, describe(snapshot)),
    ...cells,
    budgetBar(snapshot, Math.round(GRID_TOP + height + 32)),
  ].join('\n');
};

const legend = (pictures: readonly Picture[], width: number): string => {
  const present = phases.filter((phase) => pictures.some(({ snapshot }) => (snapshot.counts[phase] ?? 0) > 0));
  const each = Math.min(110, width / Math.max(1, present.length));
  return present
    .map((phase, index) => phaseBox(phase, index * each, -13, 17) + label(index * each + 24, 1, phase))
    .join('\n');
};

/** Draws the snapshots side by side as an SVG, with one cell per node. */
export const drawPicture = (pictures: readonly Picture[]): string => {
  const tallest = Math.round(Math.max(...pictures.map(({ snapshot }) => gridOf(snapshot.nodes.length).height)));
  const inner = pictures.length * PANEL_WIDTH + (pictures.length - 1) * BETWEEN_PANELS;
  const width = inner + 2 * MARGIN;
  const legendTop = MARGIN + GRID_TOP + tallest + 86;
  const height = legendTop + 22;
  const title = escape(pictures.map(({ caption, snapshot }) => `${caption}: ${describe(snapshot)}`).join('. '));
  const panels = pictures.map(
    (picture, index) =>
      `<g transform="translate(${MARGIN + index * (PANEL_WIDTH + BETWEEN_PANELS)} ${MARGIN})">\n${panel(picture)}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}" font-family="${FONT}">
<title>${title}</title>
${box(0.5, 0.5, width - 1, height - 1, 12, background, ` stroke="${border}"`)}
${panels.join('\n')}
<path d="M${MARGIN} ${legendTop - 34} H${width - MARGIN}" stroke="${border}"/>
<g transform="translate(${MARGIN} ${legendTop})">
${legend(pictures, inner)}
</g>
</svg>
`;
};
