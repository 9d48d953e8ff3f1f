/** A plot of a few lines over one factor, both axes logarithmic. */
export interface Plot {
  title: string;
  /** Where the values are, from left to right, and what is written there. */
  xs: readonly { at: number; text: string }[];
  /** In the order of `names`; a value for each of `xs`. */
  lines: readonly (readonly number[])[];
}

// It has its own background, so that it looks the same on light and dark pages.
const BACKGROUND = '#10161d';
const GRID = '#303942';
const TEXT = '#e6edf3';
const MUTED = '#9aa7b4';
const COLORS = ['#58a6ff', '#3fb950', '#e3b341', '#f778ba'];
/** So that the lines differ without their colors, too. */
const MARKS = [
  'M-4 -4h8v8h-8z',
  'M0 -5.5L5.5 4h-11z',
  'M0 -5.5L5.5 0L0 5.5L-5.5 0z',
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z',
];
const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

const MARGIN = 28;
const LEGEND = 40;
const PANEL = { width: 410, height: 290, left: 44, top: 34, right: 20, bottom: 40 };

const round = (length: number): number => Math.round(length * 10) / 10;
const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const write = (x: number, y: number, text: string, fill: string, more = ''): string =>
  `<text x="${round(x)}" y="${round(y)}" fill="${fill}" ${more}>${escape(text)}</text>`;
const mark = (line: number, x: number, y: number): string =>
  `<path d="${MARKS[line]}" fill="${COLORS[line]}" transform="translate(${round(x)} ${round(y)})"/>`;

/** How far the value is from the first to the last, from 0 to 1. */
const share = (value: number, first: number, last: number): number => Math.log(value / first) / Math.log(last / first);

const drawPlot = ({ title, xs, lines }: Plot, [least, most]: readonly [number, number]): string => {
  const { width, height, left, top, right, bottom } = PANEL;
  const [first = 1, last = 1] = [xs[0]?.at, xs.at(-1)?.at];
  const x = (at: number): number => left + share(at, first, last) * (width - left - right);
  const y = (value: number): number => height - bottom - share(value, least, most) * (height - top - bottom);
  const parts = [write(0, 14, title, TEXT, 'font-size="15" font-weight="600"')];
  for (let value = least; value <= most; value *= 10)
    parts.push(
      `<path d="M${left} ${round(y(value))}H${width - right}" stroke="${GRID}"/>`,
      write(left - 8, y(value) + 4, `×${value}`, MUTED, 'text-anchor="end"'),
    );
  for (const { at, text } of xs) parts.push(write(x(at), height - bottom + 20, text, MUTED, 'text-anchor="middle"'));
  const reach = Math.min(last / first, most);
  parts.push(
    `<path d="M${round(x(first))} ${round(y(1))}L${round(x(first * reach))} ${round(y(reach))}" stroke="${MUTED}" stroke-dasharray="2 5"/>`,
  );
  for (const [line, values] of lines.entries()) {
    const points = values.map((value, index) => [x(xs[index]?.at ?? first), y(value / (values[0] ?? 1))] as const);
    const path = points.map((point) => point.map(round).join(' ')).join('L');
    parts.push(`<path d="M${path}" stroke="${COLORS[line]}" stroke-width="2" fill="none"/>`);
    parts.push(...points.map((point) => mark(line, ...point)));
  }
  return parts.join('\n');
};

/**
 * Draws plots of the same four lines at most, two side by side, as an SVG: how many times its first value each value is. The
 * dotted line is what grows as the factor does.
 */
export const drawPlots = (plots: readonly Plot[], names: readonly string[], title: string): string => {
  const growth = plots.flatMap(({ lines }) =>
    lines.flatMap((values) => values.map((value) => value / (values[0] ?? 1))),
  );
  const range = [
    10 ** Math.floor(Math.log10(Math.min(...growth))),
    10 ** Math.ceil(Math.log10(Math.max(...growth))),
  ] as const;
  const width = 2 * (MARGIN + PANEL.width);
  const height = MARGIN + Math.ceil(plots.length / 2) * PANEL.height + LEGEND;
  const place = (index: number): string =>
    `${MARGIN + (index % 2) * (PANEL.width + MARGIN / 2)} ${MARGIN + (index >> 1) * PANEL.height}`;
  const legend = names.map((name, line) => {
    const x = 8 + (line * (width - 2 * MARGIN)) / names.length;
    return mark(line, x, -4) + write(x + 14, 0, name, TEXT);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}" font-family="${FONT}" font-size="13">
<title>${escape(title)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12" fill="${BACKGROUND}" stroke="${GRID}"/>
${plots.map((plot, index) => `<g transform="translate(${place(index)})">\n${drawPlot(plot, range)}\n</g>`).join('\n')}
<g transform="translate(${MARGIN} ${height - MARGIN})">
${legend.join('\n')}
</g>
</svg>
`;
};
