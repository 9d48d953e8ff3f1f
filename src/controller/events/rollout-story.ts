import {
  hasCompleted,
  hasReachedAll,
  hasStarted,
  seconds,
  toEpochMs,
  type WrittenStatus,
} from '../../rollout/index.ts';
import type { LogFields } from '../../runtime/index.ts';
import type { DaemonRolloutRevision, DaemonRolloutStatus } from '../../words/index.ts';
import { stageEvents } from './stage-events.ts';

/** A line of the manager's log. */
export interface StoryLine {
  msg: string;
  fields: LogFields;
}

/** A line stays short, however many containers there are. */
const MOST_IMAGES = 3;

/** What people call a version: its images, or the revision if they were not recorded. */
const versionOf = ({ images, revision }: Pick<DaemonRolloutRevision, 'images' | 'revision'>): string => {
  const more = images.length > MOST_IMAGES ? ` and ${images.length - MOST_IMAGES} more` : '';
  return images.length === 0 ? revision : `${images.slice(0, MOST_IMAGES).join(', ')}${more}`;
};

/** Every `awaits` may come and go with each node: these happen once. */
const stageLines: Readonly<Record<string, string>> = { StageOpened: 'stage opened', StagePassed: 'stage passed' };

/** How far it had got when one of these came about; the last that is new says it all. */
const milestone = (before: DaemonRolloutStatus, after: WrittenStatus): string | undefined => {
  const isNew = (time: 'firstWaveUpdatedAt' | 'halfUpdatedAt'): boolean =>
    after[time] !== undefined && before[time] === undefined;
  if (isNew('halfUpdatedAt')) return 'half of the nodes are updated';
  return isNew('firstWaveUpdatedAt') && after.halfUpdatedAt === undefined ? 'the first wave is updated' : undefined;
};

/**
 * What a status says of its rollout that the one before did not, as lines of the log: a few for each rollout, and none for a node. They
 * follow from the two statuses, so that neither a reconcile nor a new leader says anything again.
 */
export const rolloutStory = (before: DaemonRolloutStatus | undefined, after: WrittenStatus): StoryLine[] => {
  const { startedAt, finishedAt, allNodesUpdatedAt, halted, nodes, budget, target, history = [] } = after;
  // The first target that the manager found was not rolled out by it.
  if (startedAt === undefined) return [];
  const current = history.find(({ rollout }) => rollout === after.rollout);
  const { revision = '' } = target ?? {};
  const version = versionOf(current?.to ?? { images: [], revision });
  const took = (until: string | undefined): string => seconds(toEpochMs(until ?? '') - toEpochMs(startedAt));
  const progress = { updated: nodes.updated, online: nodes.online, offline: nodes.offline, failed: nodes.failed };
  const lines: StoryLine[] = [];
  const tell = (msg: string, fields: LogFields): void => void lines.push({ msg, fields: { version, ...fields } });

  const isStart = hasStarted(before, after);
  if (isStart)
    tell('rollout started', {
      ...(current?.from && { from: versionOf(current.from) }),
      revision,
      rollout: after.rollout,
      ...(current?.changedBy && { changedBy: current.changedBy.manager }),
      strategy: after.strategy,
      online: nodes.online,
      offline: nodes.offline,
      budget: budget.nodes,
    });
  for (const { reason, stage, note } of stageEvents(before, after)) {
    const msg = stageLines[reason];
    if (msg !== undefined) tell(msg, { stage, what: note });
  }
  const previous = isStart ? undefined : before;
  if (halted && previous?.halted?.at !== halted.at)
    tell('rollout halted', {
      reason: halted.reason,
      ...(halted.check !== undefined && { check: halted.check }),
      ...(halted.nodes.length > 0 && { nodes: halted.nodes }),
      ...progress,
      after: took(halted.at),
    });
  if (previous?.halted && !halted)
    tell('rollout resumed', {
      ...(after.resumed !== undefined && after.resumed !== previous.resumed && { resume: after.resumed }),
      ...progress,
    });
  if (hasCompleted(before, after)) tell('rollout completed', { ...progress, took: took(finishedAt) });
  else {
    const msg = previous && milestone(previous, after);
    const at = after.halfUpdatedAt ?? after.firstWaveUpdatedAt;
    if (msg !== undefined) tell(msg, { ...progress, after: took(at) });
    // Otherwise, one line says both.
    if (finishedAt !== undefined && hasReachedAll(before, after))
      tell('every node is updated', { nodes: nodes.eligible, took: took(allNodesUpdatedAt) });
  }
  return lines;
};
