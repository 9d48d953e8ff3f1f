import { hash } from 'node:crypto';
import {
  cut,
  type DaemonRolloutStatus,
  daemonRolloutLimits as limits,
  type NotificationKind,
  type RolloutNotification,
  type StageWait,
} from '../../words/index.ts';
import { toEpochMs, toTimestamp } from '../facts/metadata.ts';
import { isNeverSeen } from './coverage.ts';
import { seconds } from './explain-hold.ts';
import type { WrittenStatus } from './status.ts';

/** Identifies the notification for its receivers: the same after a change of leader, and in every attempt to send it. */
export const notificationId = (
  uid: string,
  { kind, reason, stage, rollout, at }: Pick<RolloutNotification, 'kind' | 'reason' | 'stage' | 'rollout' | 'at'>,
): string =>
  [
    uid,
    rollout,
    kind,
    ...(reason === undefined ? [] : [reason]),
    ...(stage === undefined ? [] : [stage]),
    Math.floor(toEpochMs(at) / 1000),
  ].join('-');

type Status = DaemonRolloutStatus | undefined;

const condition = (status: Status, type: string) => status?.conditions?.find((candidate) => candidate.type === type);

/** The first target that the manager finds is no rollout, and has no time of its start. */
export const hasStarted = (before: Status, after: DaemonRolloutStatus): boolean =>
  before?.rollout !== after.rollout && after.startedAt !== undefined;

/** Once for each rollout: the condition changes with every node that returns with an older revision. */
export const hasCompleted = (before: Status, after: DaemonRolloutStatus): boolean =>
  after.finishedAt !== undefined && before?.finishedAt !== after.finishedAt && after.startedAt !== undefined;

/** Once for each rollout, offline nodes included. */
export const hasReachedAll = (before: Status, after: DaemonRolloutStatus): boolean =>
  after.allNodesUpdatedAt !== undefined &&
  after.startedAt !== undefined &&
  (before?.rollout !== after.rollout || before?.allNodesUpdatedAt === undefined);

/** What a rollout that has just started will do. */
export const startedText = ({ nodes, strategy = 'auto', target, budget }: WrittenStatus): string => {
  const { outdated, broken, held, settling, updating, missing, offlineOutdated } = nodes;
  const withPod = outdated + broken + held + settling + updating;
  const all = withPod + offlineOutdated;
  switch (strategy) {
    case 'auto':
      // A node that lacks its pod gets the first one at the target.
      return `Rolling out ${target?.revision} to ${withPod + missing} online nodes, at most ${budget.nodes} at a time.`;
    case 'ota':
      return `Announcing ${target?.revision} to ${all} nodes, whose owners decide.`;
    case 'manual':
      return `${all} nodes get ${target?.revision} when their pods are deleted.`;
  }
};

/** Reasons of Ready under which the status doesn't know whether the rollout is paused. */
const UNKNOWN: ReadonlySet<string | undefined> = new Set([
  'NotSynced',
  'TemplateNotObserved',
  'InvalidPolicy',
  'Deleted',
]);

/** What the rollout waits for that people decide, or that only time shows, as a reason of its conditions. */
const waitingFor = (status: WrittenStatus): string | undefined => {
  if (condition(status, 'Complete')?.status === 'True') return undefined;
  const paused = condition(status, 'Paused');
  if (paused?.status === 'True') return paused.reason;
  if (condition(status, 'Halted')?.reason === 'WaitingForSuspects') return 'WaitingForSuspects';
  const asked = status.owners?.asked ?? 0;
  return asked > 0 && condition(status, 'Ready')?.reason === 'OwnerDecides' ? 'OwnerDecides' : undefined;
};

type News = Pick<RolloutNotification, 'kind' | 'reason' | 'stage' | 'at' | 'message'>;

/** What the open stage waits for that people decide, as a reason of the conditions. */
const stageReasons: Partial<Record<StageWait, string>> = { Approval: 'AwaitingApproval', Timeout: 'StageTimedOut' };

/** Fits the schema, however long the name is, and stays the same when an edit moves the stage in its plan. */
const stageKey = (reason: string, stage: string): string =>
  `waiting/${reason}/${hash('sha256', stage, 'base64url').slice(0, 16)}`;

/** A stage that waits for people. Every stage of a rollout tells it once. */
const stageNews = ({ stages = [] }: WrittenStatus, sent: Set<string>, now: number): News[] =>
  stages.flatMap(({ name, awaits }) => {
    const reason = awaits && stageReasons[awaits.reason];
    if (reason === undefined || sent.has(stageKey(reason, name))) return [];
    sent.add(stageKey(reason, name));
    return [
      { kind: 'waiting', reason, stage: name, at: toTimestamp(now), message: `Stage ${name} ${awaits?.message}.` },
    ];
  });

/** A pause that has ended may be followed by another one. What nodes and owners cause is told once for each rollout. */
const isEndedPause = (key: string, after: WrittenStatus): boolean =>
  /^waiting\/(Paused|ZeroBudget)$/.test(key) &&
  condition(after, 'Paused')?.status !== 'True' &&
  !UNKNOWN.has(condition(after, 'Ready')?.reason);

const stragglersText = ({ target, nodes, stragglers = [] }: WrittenStatus, sinceMs: number): string => {
  const { offlineOutdated } = nodes;
  const names = stragglers.map(
    ({ node, lastSeen }) => `${node} (${isNeverSeen(lastSeen) ? 'never reported' : `last seen ${lastSeen}`})`,
  );
  const more = offlineOutdated > names.length ? ` and ${offlineOutdated - names.length} more` : '';
  return `${offlineOutdated} offline node${offlineOutdated === 1 ? '' : 's'} still lack${offlineOutdated === 1 ? 's' : ''} ${target?.revision}, ${seconds(sinceMs)} after all online nodes had it: ${names.join(', ')}${more}.`;
};

export interface NotificationTerms {
  /** The names of the targets that hear of it. */
  targetsOf(kind: NotificationKind): readonly string[];
  /** How long after a rollout has completed the nodes that still lack the target are stragglers. */
  stragglersAfterMs: number;
  /** Nothing is left to do about this one. */
  isSettled(notification: RolloutNotification, target: string): boolean;
}

/** When the nodes that are left become stragglers, epoch ms; Infinity for never. */
export const stragglersAt = ({ notifications, finishedAt, nodes }: DaemonRolloutStatus, afterMs: number): number => {
  const sent = notifications?.sent ?? [];
  const awaits = sent.includes('completed') && !sent.includes('stragglers') && (nodes?.offlineOutdated ?? 0) > 0;
  return awaits && finishedAt !== undefined ? toEpochMs(finishedAt) + afterMs : Number.POSITIVE_INFINITY;
};

/** What is new since the status before, oldest first. `told` is what the rollout has told already. */
const newsOf = (before: Status, after: WrittenStatus, sent: Set<string>, afterMs: number, now: number): News[] => {
  const { startedAt = '', finishedAt = '', allNodesUpdatedAt = '', halted } = after;
  const message = (type: string): string =>
    condition(after, type)?.message || condition(after, 'Ready')?.message || after.summary;
  const news: News[] = [];
  if (hasStarted(before, after)) news.push({ kind: 'started', at: startedAt, message: startedText(after) });
  const reason = waitingFor(after);
  if (reason !== undefined && !sent.has(`waiting/${reason}`)) {
    sent.add(`waiting/${reason}`);
    const from = reason === 'WaitingForSuspects' ? 'Halted' : 'Ready';
    news.push({ kind: 'waiting', reason, at: toTimestamp(now), message: message(from) });
  }
  news.push(...stageNews(after, sent, now));
  // Not by the condition, which is False while the manager is out of touch with the API server.
  if (halted && before?.halted?.at !== halted.at)
    news.push({ kind: 'halted', reason: halted.reason, at: halted.at, message: message('Halted') });
  if (hasCompleted(before, after)) {
    sent.add('completed');
    news.push({ kind: 'completed', at: finishedAt, message: message('Complete') });
  }
  if (hasReachedAll(before, after))
    news.push({ kind: 'all-nodes-updated', at: allNodesUpdatedAt, message: message('AllNodesUpdated') });
  if (stragglersAt({ ...after, notifications: { sent: [...sent], pending: [] } }, afterMs) <= now) {
    sent.add('stragglers');
    const text = stragglersText(after, now - toEpochMs(finishedAt));
    news.push({ kind: 'stragglers', at: toTimestamp(now), message: text });
  }
  return news;
};

/**
 * The field `notifications` of a status that follows another one: what is new joins what is still to be sent. It is written
 * together with what it tells of, so that exactly one leader enters it, and every later one knows of it.
 */
export const notificationsOf = (
  before: Status,
  after: WrittenStatus,
  terms: NotificationTerms,
  now: number,
): Required<DaemonRolloutStatus>['notifications'] => {
  const { sent: toldBefore = [], pending: pendingBefore = [] } = before?.notifications ?? {};
  const isSame = before?.rollout === after.rollout;
  const sent = new Set(isSame ? toldBefore.filter((key) => !isEndedPause(key, after)) : []);
  // A rollout that was under way before anybody listened: how it stands is no news.
  const isKnown = before === undefined || !isSame || before.notifications !== undefined;
  const { eligible, online, updated, failed, offline } = after.nodes;
  const news = newsOf(before, after, sent, terms.stragglersAfterMs, now)
    .filter(({ kind }) => isKnown || kind !== 'waiting')
    .map(
      ({ message, ...others }): RolloutNotification => ({
        ...others,
        rollout: after.rollout,
        revision: after.target?.revision ?? '',
        message: cut(message),
        nodes: { eligible, online, updated, failed, offline },
        targets: [...terms.targetsOf(others.kind)],
      }),
    );
  const pending = [...pendingBefore, ...news]
    .map((each) => ({ ...each, targets: each.targets.filter((target) => !terms.isSettled(each, target)) }))
    .filter(({ targets }) => targets.length > 0)
    .slice(-limits.notifications);
  return { sent: [...sent].slice(-limits.sent), pending };
};
