import { countedNow } from '../clock.ts';
import { text } from '../text/index.ts';
import type { CommandRequest, StageStep } from '../types.ts';
import { lasted } from './ago.ts';

/** Of the soak: `24 min left`; empty without one, and when it has ended. */
export const soakLeft = ({ soakUntil }: StageStep, now = countedNow()): string => {
  const left = soakUntil === undefined ? 0 : Date.parse(soakUntil) - now;
  // The last second counts as one.
  return left > 0 ? text.stages.left(lasted(Math.max(1_000, left))) : '';
};

const MINUTE_MS = 60_000;
const UNITS_MS = [24 * 60 * MINUTE_MS, 60 * MINUTE_MS, MINUTE_MS, 1_000];

/** The soak of an open stage as a clock: what is left of it, in two units, and as a share of the whole. */
export const soakOf = (
  { coveredAt, soakUntil }: StageStep,
  now = countedNow(),
): { left: string; share: number } | undefined => {
  if (soakUntil === undefined) return undefined;
  const end = Date.parse(soakUntil);
  // The last second counts as one.
  const leftMs = Math.ceil((end - now) / 1_000) * 1_000;
  if (leftMs <= 0) return undefined;
  const unit = UNITS_MS.findIndex((ms) => leftMs >= ms);
  const rest = leftMs % (UNITS_MS[unit] ?? 1);
  const left = [leftMs, ...(rest >= (UNITS_MS[unit + 1] ?? Number.POSITIVE_INFINITY) ? [rest] : [])]
    .map(lasted)
    .join(' ');
  const wholeMs = coveredAt === undefined ? Number.NaN : end - Date.parse(coveredAt);
  // Without a soak, it ends as it begins.
  if (wholeMs <= 0) return undefined;
  return { left: text.stages.left(left), share: wholeMs > 0 ? Math.min(1, (end - now) / wholeMs) : 1 };
};

const withExposed = (said: string, exposed = 0): string =>
  exposed > 0 ? `${said}, ${text.stages.exposed(exposed)}` : said;

/** How many nodes a closed stage has. */
export const sizeOf = ({ nodes: { total, exposed } }: StageStep): string =>
  withExposed(text.stages.nodes(total), exposed);

export const progressOf = ({ nodes: { updated, online, total, exposed } }: StageStep): string =>
  withExposed(text.stages.progress(updated, online, total), exposed);

/** Where only so much is known of the stages: the name of the open one is empty without one. */
export interface StageCounts {
  passed: number;
  open: string;
  total: number;
}

export interface StageDot {
  state: StageStep['state'];
  /** Empty where it is not known. */
  name: string;
  /** Of its online nodes that are updated: `40 %`. Empty unless it is open, and where it is not known. */
  progress: string;
}

const percent = new Intl.NumberFormat(text.language, { style: 'percent', roundingMode: 'floor' });

/** A dot for each stage. */
export const dotsOf = (stages: readonly StageStep[] | StageCounts): readonly StageDot[] => {
  if (!('total' in stages))
    return stages.map(({ name, state, nodes: { updated, online } }) => ({
      name,
      state,
      progress: state === 'Open' ? percent.format(updated / Math.max(1, online)) : '',
    }));
  const { passed, open, total } = stages;
  return Array.from({ length: total }, (_, index): StageDot => {
    if (index < passed) return { name: '', state: 'Passed', progress: '' };
    const isOpen = index === passed && open !== '';
    return { name: isOpen ? open : '', state: isOpen ? 'Open' : 'Closed', progress: '' };
  });
};

/** What the command does to the stage, for somebody who is about to confirm it. */
export const consequenceOf = (command: CommandRequest['command'], step: StageStep, now = countedNow()): string => {
  const { name, nodes, checks } = step;
  if (command === 'approve') return text.stages.approves(name, progressOf(step));
  if (command !== 'promote') return '';
  const soak = soakLeft(step, now);
  const skipped = [
    ...(nodes.updated < nodes.online ? [text.stages.coverage(nodes.updated, nodes.online)] : []),
    ...(soak === '' ? [] : [text.stages.soak(soak)]),
    ...checks.map(({ name: check, state }) => text.stages.check(check, state)),
  ];
  return text.stages.promotes(name, skipped);
};
