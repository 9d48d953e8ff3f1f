import type { RolloutPlanSpec } from '../../src/words/index.ts';
import { closedAt } from './stages.ts';

type Window = NonNullable<RolloutPlanSpec['windows']>[number];

/** The annotation of a Node that names its time zone. */
export const NODE_ZONE_KEY = 'edgeset.io/time-zone';

const formats = new Map<string, Intl.DateTimeFormat>();

const createFormat = (timeZone: string): Intl.DateTimeFormat => {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  } catch {
    // A node whose annotation names no time zone is at UTC.
    return createFormat('UTC');
  }
};

/** They take long to create. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone) ?? createFormat(timeZone);
  formats.set(timeZone, known);
  return known;
};

/** The wall clock of a time zone at a time, as if it were UTC. */
const wallClock = (at: number, timeZone: string): number => {
  const format = formatOf(timeZone);
  return Date.parse(`${format.format(at).replace(' ', 'T')}Z`);
};

/** Why nothing may begin on a node at this time. `nodeZone`: the zone of windows in the time of the node. */
export const closedOn = (
  { windows = [], freezes = [] }: RolloutPlanSpec,
  at: number,
  nodeZone = 'UTC',
): string | undefined => {
  const frozen = closedAt({ freezes }, at);
  if (frozen || windows.length === 0) return frozen;
  const closedBy = ({ timeZone = 'UTC', ...window }: Window): string | undefined =>
    closedAt({ windows: [window] }, wallClock(at, timeZone === 'node' ? nodeZone : timeZone));
  const closings = windows.map(closedBy);
  return closings.includes(undefined) ? undefined : closings[0];
};
