import { bySeverity, phaseStyles } from '../../view/index.ts';
import type { Phase } from '../../words/index.ts';
import type { Style } from './line.ts';

const noPhase: Style = { kind: 'cell', background: 236, text: 250 };
const cellStyles = new Map<Phase, Style>(
  bySeverity.map((phase) => {
    const [background, text] = phaseStyles[phase].ansi;
    return [phase, { kind: 'cell', background, text }];
  }),
);

/** The colors of a cell; a node without a phase is gray. */
export const cellStyle = (phase: Phase | undefined): Style => (phase && cellStyles.get(phase)) ?? noPhase;
