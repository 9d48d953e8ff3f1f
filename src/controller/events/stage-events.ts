import type { WrittenStatus } from '../../rollout/index.ts';
import type { DaemonRolloutStage, DaemonRolloutStatus, StagePromotion } from '../../words/index.ts';

/** An Event about a stage; `key` for those that are recorded once per rollout. */
export interface StageEvent {
  stage: string;
  type: 'Normal' | 'Warning';
  reason: string;
  action: string;
  note: string;
  key?: string;
}

const passedBecause = ({ nodes, promotedBy }: DaemonRolloutStage): Record<StagePromotion, string> => ({
  Gates: `${nodes.updated} of its ${nodes.online} online nodes run the target${promotedBy ? `, approved by ${promotedBy}` : ''}`,
  Empty: 'it has no nodes',
  Timeout: `its timeout has ended${promotedBy ? `, approved by ${promotedBy}` : ''}`,
  ByHand: `${promotedBy} promoted it`,
});

const eventsOf = (before: DaemonRolloutStage | undefined, stage: DaemonRolloutStage): Omit<StageEvent, 'stage'>[] => {
  const { name, nodes, openedAt, promotedAt, promotion = 'Gates', awaits, checks = [] } = stage;
  const events: Omit<StageEvent, 'stage'>[] = [];
  if (openedAt !== undefined && before?.openedAt !== openedAt)
    events.push({
      type: 'Normal',
      reason: 'StageOpened',
      action: 'Open',
      note: `Opened stage ${name}: ${nodes.online} of its ${nodes.total} nodes are online.`,
    });
  if (promotedAt !== undefined && before?.promotedAt !== promotedAt)
    events.push({
      type: 'Normal',
      reason: 'StagePassed',
      action: 'Promote',
      note: `Passed stage ${name}: ${passedBecause(stage)[promotion]}.`,
    });
  if (nodes.exposed !== undefined && nodes.exposed > 0 && before?.nodes.exposed === undefined)
    events.push({
      type: 'Warning',
      reason: 'StageExposed',
      action: 'Expose',
      note:
        `${nodes.exposed} of the ${nodes.total} nodes of stage ${name} have pods of the target, although the stage is ` +
        'closed: recreated pods, and those of nodes that join, are of the newest revision.',
      // An edit of the plan may take the stage away for a while.
      key: `exposed ${name}`,
    });
  const waits = awaits && awaits.reason !== before?.awaits?.reason ? awaits.reason : undefined;
  if (waits === 'Approval')
    events.push({
      type: 'Normal',
      reason: 'StageAwaitsApproval',
      action: 'Await',
      note: `Stage ${name} ${awaits?.message}.`,
    });
  if (waits === 'Timeout')
    events.push({
      type: 'Warning',
      reason: 'StageTimedOut',
      action: 'Await',
      note: `Stage ${name} ${awaits?.message}.`,
    });
  for (const { name: check, state, message } of checks)
    if (state === 'NoResult' || state === 'Failing')
      events.push({
        type: 'Warning',
        reason: state === 'Failing' ? 'CheckFailing' : 'CheckWithoutResult',
        action: 'Check',
        note: `Check ${check} of stage ${name}: ${message ?? 'no details'}`,
        key: `check ${name} ${check} ${state}`,
      });
  return events;
};

/** What a status says of stages that the one before did not. */
export const stageEvents = (before: DaemonRolloutStatus | undefined, after: WrittenStatus): StageEvent[] => {
  const known = new Map(
    before?.rollout === after.rollout ? before.stages?.map((stage) => [stage.name, stage]) : undefined,
  );
  return (after.stages ?? []).flatMap((stage) =>
    eventsOf(known.get(stage.name), stage).map((event) => ({ ...event, stage: stage.name })),
  );
};
