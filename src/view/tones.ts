import type { DaemonRolloutHistory, DaemonRolloutStage, Phase } from '../words/index.ts';
import { resultTones } from './past-rollout.ts';
import { type RolloutState, rolloutStates, type Tone as StateTone } from './states.ts';

/** What a piece of text means. A terminal shows it as a color: red failed, amber a person must act, blue running, green complete. */
export type Tone = 'bad' | 'warning' | 'accent' | 'good' | 'dim' | 'bold';

export interface Toned {
  text: string;
  tone?: Tone | undefined;
}

/** A line of output, of which the first `upTo` characters have the tone; all of it without that. */
export interface TonedLine extends Toned {
  upTo?: number;
  /** It is about the last line before it that has a smaller depth; absent: 0. */
  depth?: number;
}

/** Colors a text that is escaped already; without a tone, and where there are no colors, it stays as it is. */
export type Paint = (text: string, tone?: Tone) => string;

export const unpainted: Paint = (text) => text;

/** A line that begins with a word of this tone. */
export const headed = (head: string, tone: Tone | undefined, rest: string): TonedLine => ({
  text: `${head}${rest}`,
  tone,
  upTo: head.length,
});

export const noteLine = (note: string): TonedLine => headed('Note:', 'dim', ` ${note}`);

/** What a state or a result asks of the reader, as a terminal shows it. */
const stateTones: Readonly<Record<StateTone, Tone | undefined>> = {
  bad: 'bad',
  wait: 'warning',
  go: 'accent',
  ok: 'good',
  idle: undefined,
};

export const toneOfState = (state: RolloutState): Tone | undefined => stateTones[rolloutStates[state].tone];

export const toneOfResult = (result: DaemonRolloutHistory['result']): Tone | undefined =>
  stateTones[resultTones[result]];

const phaseTones: Readonly<Record<Phase, Tone | undefined>> = {
  failed: 'bad',
  broken: 'warning',
  missing: 'warning',
  updating: 'accent',
  settling: 'accent',
  updated: 'good',
  outdated: undefined,
  held: undefined,
  offline: 'dim',
};

export const toneOfPhase = (phase: Phase): Tone | undefined => phaseTones[phase];

/** Whether a stage waits for a person. */
const awaitsPerson = ({ state, awaits }: DaemonRolloutStage): boolean =>
  state === 'Open' && (awaits?.reason === 'Approval' || awaits?.reason === 'Timeout');

export const toneOfStage = (stage: DaemonRolloutStage): Tone | undefined => {
  if (awaitsPerson(stage)) return 'warning';
  return { Passed: 'good', Open: 'accent', Closed: 'dim' }[stage.state] as Tone;
};
