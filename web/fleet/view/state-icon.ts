import { MARK_BOX, phaseMark, phaseStyles, type Tone } from '../types.ts';

/** A state looks like the cells that stand for it. */
const phaseOf = { bad: 'failed', wait: 'broken', go: 'updating', ok: 'updated' } as const;

const PX = 32;

/** A data URL, which the servers' Content-Security-Policy permits for images. Tabs are light or dark: the mark has a ground of its own. */
export const stateIcon = (tone: Exclude<Tone, 'idle'>): string => {
  const phase = phaseOf[tone];
  const colors = phaseStyles[phase].light;
  const drawn = phaseMark(phase, PX).map(
    ({ d, fill, stroke, width = 0 }) =>
      `<path d="${d}" fill="${(fill && colors[fill]) ?? 'none'}" stroke="${(stroke && colors[stroke]) ?? 'none'}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${MARK_BOX} ${MARK_BOX}">${drawn.join('')}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};

let plain: string | undefined;

/** Shows the state as the icon of the page; `idle` is the page's own icon. */
export const setIcon = (tone: Tone): void => {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  plain ??= link.href;
  const href = tone === 'idle' ? plain : stateIcon(tone);
  if (link.href !== href) link.href = href;
};
