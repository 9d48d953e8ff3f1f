import { MARK_BOX, type NodeCell, phaseMark } from '../types.ts';

/** In the legend, each phase shows its glyph. */
const LEGEND_PX = 20;

/** The cell of a phase, as the map draws it. It follows the color scheme. */
export const PhaseMark = ({ phase }: { phase: NodeCell[1] }) => {
  const names = { color: `var(--${phase})`, ink: `var(--on-${phase})`, line: `var(--${phase}-line)` };
  return (
    <svg class="phase-mark" viewBox={`0 0 ${MARK_BOX} ${MARK_BOX}`} aria-hidden="true">
      {phaseMark(phase, LEGEND_PX).map(({ d, fill, stroke, width, dash, flat }) => (
        <path
          key={d}
          d={d}
          fill={fill ? names[fill] : 'none'}
          stroke={stroke ? names[stroke] : 'none'}
          stroke-width={width}
          stroke-dasharray={dash?.join(' ')}
          stroke-linecap={flat ? 'butt' : 'round'}
          stroke-linejoin="round"
        />
      ))}
    </svg>
  );
};
