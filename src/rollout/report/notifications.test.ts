import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type DaemonRolloutStatus,
  daemonRolloutLimits,
  type RolloutNotification,
  type StageWait,
} from '../../words/index.ts';
import { type NotificationTerms, notificationId, notificationsOf, startedText, stragglersAt } from './notifications.ts';
import type { WrittenStatus } from './status.ts';

const HOUR_MS = 3_600_000;
const time = (hour: number): string => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`;
const now = Date.parse(time(12));

const listening: NotificationTerms = {
  targetsOf: () => ['bus'],
  stragglersAfterMs: HOUR_MS,
  isSettled: () => false,
};

type Verdicts = Partial<Record<'Ready' | 'Complete' | 'AllNodesUpdated' | 'Halted' | 'Paused', [boolean, string]>>;

const status = (change: Partial<DaemonRolloutStatus> = {}, verdicts: Verdicts = {}): WrittenStatus =>
  ({
    rollout: 2,
    startedAt: time(10),
    target: { revision: 'app-2', hash: 'h2', number: 2 },
    summary: 'Rolling out',
    nodes: {
      eligible: 6,
      online: 4,
      updated: 0,
      outdated: 3,
      broken: 1,
      held: 0,
      settling: 0,
      updating: 0,
      failed: 0,
      missing: 0,
      offline: 2,
      offlineOutdated: 2,
    },
    budget: { maxUnavailable: '1', nodes: 1, inUse: 0, inFlight: 0 },
    conditions: Object.entries(verdicts).map(([type, [on, reason]]) => ({
      type,
      status: on ? 'True' : 'False',
      reason,
      message: `${type} says ${reason}.`,
      lastTransitionTime: time(10),
    })),
    ...change,
  }) as WrittenStatus;

/** Writes statuses one after the other as the store does, and returns what was new in each. */
const follow = (first: DaemonRolloutStatus | undefined, terms: NotificationTerms = listening) => {
  let before = first;
  return (after: WrittenStatus, at = now): string[] => {
    const known = before?.notifications?.pending.length ?? 0;
    const notifications = notificationsOf(before, after, terms, at);
    before = { ...after, notifications };
    return notifications.pending.slice(known).map(({ kind, reason }) => (reason ? `${kind} ${reason}` : kind));
  };
};

const sent = { sent: [], pending: [] };
const before = { ...status({ rollout: 1 }), notifications: sent };

describe('the text of a rollout that starts', () => {
  const { nodes } = status();

  it('counts every online node that is to get the target, also those without a pod yet', () => {
    assert.equal(startedText(status()), 'Rolling out app-2 to 4 online nodes, at most 1 at a time.');
    const waiting = { ...nodes, outdated: 0, broken: 0, missing: 4 };
    assert.equal(startedText(status({ nodes: waiting })), 'Rolling out app-2 to 4 online nodes, at most 1 at a time.');
  });

  it('counts only nodes with a pod where somebody else replaces it', () => {
    const some = { ...nodes, missing: 1 };
    assert.match(startedText(status({ nodes: some, strategy: 'ota' })), /to 6 nodes, whose owners decide\.$/);
    assert.match(startedText(status({ nodes: some, strategy: 'manual' })), /^6 nodes get app-2 when/);
  });
});

describe('the notifications of a status', () => {
  it('tell each step of a rollout once', () => {
    const next = follow(before, { ...listening, stragglersAfterMs: 24 * HOUR_MS });
    const done = { finishedAt: time(11) };
    assert.deepEqual(next(status()), ['started']);
    assert.deepEqual(next(status()), []);
    const halt = { halted: { at: time(11), reason: 'Failures' as const, nodes: ['n1'] } };
    assert.deepEqual(next(status(halt, { Halted: [true, 'Failures'] })), ['halted Failures']);
    // Out of touch with the API server for a moment.
    assert.deepEqual(next(status(halt, { Halted: [false, 'NotHalted'], Ready: [false, 'NotSynced'] })), []);
    assert.deepEqual(next(status(halt, { Halted: [true, 'Failures'] })), []);
    assert.deepEqual(next(status()), []);
    const again = { halted: { at: time(12), reason: 'Failures' as const, nodes: ['n2'] } };
    assert.deepEqual(
      next(status(again, { Halted: [true, 'Failures'] })),
      ['halted Failures'],
      'resumed, and halted again',
    );
    assert.deepEqual(next(status(done, { Complete: [true, 'AllOnlineNodesUpdated'] })), ['completed']);
    assert.deepEqual(next(status(done)), [], 'a node returns');
    assert.deepEqual(next(status(done, { Complete: [true, 'AllOnlineNodesUpdated'] })), []);
    assert.deepEqual(next(status({ ...done, allNodesUpdatedAt: time(12) })), ['all-nodes-updated']);
    assert.deepEqual(next(status({ rollout: 3, startedAt: time(12) })), ['started']);
  });

  it('tell nothing of the first target that a manager finds', () => {
    const { startedAt: _, ...found } = status({ finishedAt: time(11), allNodesUpdatedAt: time(11) });
    assert.deepEqual(follow(undefined)(found as WrittenStatus), []);
  });

  it('tell nothing of how a rollout stood before anybody listened', () => {
    const halt = { halted: { at: time(11), reason: 'Failures' as const, nodes: [] } };
    const paused: Verdicts = { Paused: [true, 'Paused'] };
    assert.deepEqual(follow(status(halt, paused))(status(halt, paused)), []);
    const old = status({ finishedAt: time(1) });
    assert.deepEqual(follow(old)(old), [], 'no stragglers of rollouts long gone');
  });

  it('tell of each pause, and not twice of one', () => {
    const next = follow(before);
    const paused = status({}, { Paused: [true, 'Paused'] });
    assert.deepEqual(next(paused), ['started', 'waiting Paused']);
    assert.deepEqual(next(status({}, { Paused: [false, 'NotPaused'], Ready: [false, 'NotSynced'] })), []);
    assert.deepEqual(next(paused), []);
    assert.deepEqual(next(status({}, { Paused: [false, 'NotPaused'], Ready: [false, 'InProgress'] })), []);
    assert.deepEqual(next(paused, now + 60_000), ['waiting Paused']);
    assert.deepEqual(next(status({}, { Paused: [true, 'Paused'], Complete: [true, 'Paused'] })), []);
  });

  it('tell once for each rollout that it waits for suspects or owners', () => {
    const next = follow({ ...status(), notifications: sent });
    const suspects = status({}, { Halted: [false, 'WaitingForSuspects'] });
    assert.deepEqual(next(suspects), ['waiting WaitingForSuspects']);
    assert.deepEqual(next(status({}, { Ready: [false, 'InProgress'] })), []);
    assert.deepEqual(next(suspects, now + 60_000), []);
    const owners = status({ owners: { asked: 2, nodes: [] } }, { Ready: [true, 'OwnerDecides'] });
    assert.deepEqual(next(owners), ['waiting OwnerDecides']);
    assert.deepEqual(next(status({ owners: { asked: 0, nodes: [] } }, { Ready: [true, 'OwnerDecides'] })), []);
  });

  it('tell of each stage once that it waits for an approval, and that it has timed out', () => {
    const next = follow({ ...status(), notifications: sent });
    const nodes = { total: 1, online: 1, updated: 1 };
    const waits = (name: string, reason: StageWait) =>
      status({ stages: [{ name, state: 'Open', nodes, awaits: { reason, message: 'waits' } }] });
    const long = 'x'.repeat(63);
    assert.deepEqual(next(waits(long, 'Soak')), []);
    assert.deepEqual(next(waits(long, 'Approval')), ['waiting AwaitingApproval']);
    assert.deepEqual(next(waits(long, 'Coverage')), []);
    assert.deepEqual(next(waits(long, 'Approval'), now + 60_000), []);
    assert.deepEqual(next(waits(long, 'Timeout')), ['waiting StageTimedOut']);
    const after = notificationsOf({ ...status(), notifications: sent }, waits('fleet', 'Approval'), listening, now);
    const [{ stage, message } = {}] = after.pending;
    assert.deepEqual([stage, message], ['fleet', 'Stage fleet waits.']);
    assert.ok(after.sent.every((key) => key.length <= 64));
    assert.deepEqual(follow(status())(waits('fleet', 'Approval')), [], 'it waited before anybody listened');
  });

  it('of 20 stages that wait and time out fit the schema', () => {
    const nodes = { total: 1, online: 1, updated: 1 };
    let last = { ...status(), notifications: sent } as WrittenStatus;
    for (const reason of ['Approval', 'Timeout'] as const)
      for (let index = 0; index < 20; index += 1) {
        const stages = [{ name: `s${index}`, state: 'Open' as const, nodes, awaits: { reason, message: 'waits' } }];
        last = { ...last, notifications: notificationsOf(last, status({ stages }), listening, now) };
      }
    assert.equal(last.notifications?.sent.length, 40);
    assert.ok(40 < daemonRolloutLimits.sent);
  });

  it('tell of stragglers once they have had their time', () => {
    const next = follow({ ...status(), notifications: sent });
    const stragglers = [
      { node: 'n5', lastSeen: time(9) },
      { node: 'n6', lastSeen: '1970-01-01T00:00:00Z' },
    ];
    const done = status({ finishedAt: time(11), stragglers }, { Complete: [true, 'AllOnlineNodesUpdated'] });
    assert.deepEqual(next(done, now - 1), ['completed']);
    const waiting = { ...done, notifications: { sent: ['completed'], pending: [] } };
    assert.equal(stragglersAt(waiting, HOUR_MS), now);
    assert.equal(stragglersAt({ ...waiting, nodes: { ...done.nodes, offlineOutdated: 0 } }, HOUR_MS), Infinity);
    const { pending } = notificationsOf(waiting, done, listening, now);
    assert.equal(
      pending[0]?.message,
      '2 offline nodes still lack app-2, 60 min after all online nodes had it: n5 (last seen 2026-01-01T09:00:00Z), n6 (never reported).',
    );
    assert.deepEqual(next(done), ['stragglers']);
    assert.deepEqual(next(done, now + HOUR_MS), []);
  });

  it('keep a target until it is settled, and the newest when there are too many', () => {
    const targetsOf = (): string[] => ['a', 'b'];
    const { pending } = notificationsOf(before, status(), { ...listening, targetsOf }, now);
    assert.deepEqual(pending[0]?.targets, ['a', 'b']);
    const [started] = pending as [RolloutNotification];
    const isSettled = (_: RolloutNotification, target: string): boolean => target === 'a';
    const held = { ...status(), notifications: { sent: [], pending } };
    assert.deepEqual(
      notificationsOf(held, status(), { ...listening, isSettled }, now).pending.map(({ targets }) => targets),
      [['b']],
    );
    assert.deepEqual(notificationsOf(held, status(), { ...listening, isSettled: () => true }, now).pending, []);
    const many = Array.from({ length: 40 }, (_, n) => ({ ...started, rollout: n }));
    const next = notificationsOf({ ...status(), notifications: { sent: [], pending: many } }, status(), listening, now);
    assert.deepEqual([next.pending.length, next.pending.at(-1)?.rollout], [16, 39]);
  });

  it('are for nobody where no target hears of them', () => {
    assert.deepEqual(notificationsOf(before, status(), { ...listening, targetsOf: () => [] }, now).pending, []);
  });

  it('have ids without a full stop, which separates the parts of what is signed', () => {
    const id = notificationId('6f0c-9a', {
      kind: 'waiting',
      reason: 'Paused',
      rollout: 3,
      at: '2026-01-01T00:00:00.5Z',
    });
    assert.equal(id, '6f0c-9a-3-waiting-Paused-1767225600');
    const ofStage = { kind: 'waiting', reason: 'AwaitingApproval', rollout: 3, at: '2026-01-01T00:00:00Z' } as const;
    assert.notEqual(notificationId('u', { ...ofStage, stage: 'a' }), notificationId('u', { ...ofStage, stage: 'b' }));
  });
});
