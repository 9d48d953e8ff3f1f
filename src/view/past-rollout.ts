import type { DaemonRolloutHistory } from '../words/index.ts';
import type { Tone } from './states.ts';

/** What a result asks of the reader. */
export const resultTones: Readonly<Record<DaemonRolloutHistory['result'], Tone>> = {
  InProgress: 'go',
  Complete: 'ok',
  Halted: 'bad',
  RolledBack: 'bad',
  Undone: 'wait',
  Superseded: 'idle',
};

/** How long it took to reach its result, or has run so far; undefined where its start is not known. */
export const durationMs = (
  { result, startedAt, finishedAt, haltedAt, endedAt }: DaemonRolloutHistory,
  now: number,
): number | undefined => {
  if (startedAt === undefined) return undefined;
  const stoppedAt = result === 'Halted' ? haltedAt : undefined;
  const at = result === 'Complete' ? finishedAt : (stoppedAt ?? endedAt);
  return Math.max(0, (at === undefined ? now : Date.parse(at)) - Date.parse(startedAt));
};

/** `web:1.5 -> web:1.6`: only images that differ. */
export const changedImages = ({ from, to }: DaemonRolloutHistory): string => {
  if (!from) return to.images.join(',');
  const gone = from.images.filter((image) => !to.images.includes(image));
  const come = to.images.filter((image) => !from.images.includes(image));
  return gone.length + come.length === 0 ? '' : `${gone.join(',')} -> ${come.join(',')}`.trim();
};
