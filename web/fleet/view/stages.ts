import { clusterNow } from '../clock.ts';
import { text } from '../text/index.ts';
import type { CommandRequest, StageStep } from '../types.ts';
import { lasted } from './ago.ts';

/** Of the soak: `24 min left`; empty without one, and when it has ended. */
export const soakLeft = ({ soakUntil }: StageStep, now = clusterNow()): string => {
  const left = soakUntil === undefined ? 0 : Date.parse(soakUntil) - now;
  // The last second counts as one.
  return left > 0 ? text.stages.left(lasted(Math.max(1_000, left))) : '';
};

export const progressOf = ({ nodes: { updated, online, total, exposed = 0 } }: StageStep): string =>
  `${text.stages.progress(updated, online, total)}${exposed > 0 ? `, ${text.stages.exposed(exposed)}` : ''}`;

/** What the command does to the stage, for somebody who is about to confirm it. */
export const consequenceOf = (command: CommandRequest['command'], step: StageStep, now = clusterNow()): string => {
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
