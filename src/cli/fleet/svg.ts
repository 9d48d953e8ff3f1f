import { MARK_BOX, type MarkLayer, phaseMark, phaseStyles } from '../../view/index.ts';
import type { Phase } from '../../words/index.ts';

// The picture has its own background, so that it looks the same on light and dark pages.
export const background = '#ffffff';
export const border = '#dfe2e0';
export const foreground = '#1a211e';
const muted = '#5f6563';
export const alarm = phaseStyles.failed.light.color;
export const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

export const round = (length: number): number => Math.round(length * 100) / 100;

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const label = (
  x: number,
  y: number,
  text: string,
  more: { size?: number; fill?: string; weight?: number; anchor?: string } = {},
): string => {
  const { size = 14, fill = muted, weight = 400, anchor = 'start' } = more;
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${escape(text)}</text>`;
};

export const box = (
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number,
  fill: string,
  more = '',
): string => `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"${more}/>`;

const drawLayer = ({ d, fill, stroke, width, dash, flat }: MarkLayer, phase: Phase): string => {
  const colors = phaseStyles[phase].light;
  const line = stroke
    ? ` stroke="${colors[stroke]}" stroke-width="${width}"${flat ? '' : ' stroke-linecap="round" stroke-linejoin="round"'}`
    : '';
  return `<path d="${d}" fill="${fill ? colors[fill] : 'none'}"${line}${dash ? ` stroke-dasharray="${dash.join(' ')}"` : ''}/>`;
};

/** A cell as the phase is drawn. */
export const phaseBox = (phase: Phase, x: number, y: number, size: number): string =>
  `<g transform="translate(${x} ${y}) scale(${round(size / MARK_BOX)})">${phaseMark(phase, size)
    .map((layer) => drawLayer(layer, phase))
    .join('')}</g>`;
