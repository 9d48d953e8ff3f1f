import {
  type NotificationTerms,
  notificationId,
  notificationsOf,
  stragglersAt,
  type WrittenStatus,
} from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { DaemonRolloutStatus, RolloutNotification } from '../../words/index.ts';
import type { DaemonSetRef } from '../kind.ts';

/** One notification for one target. */
export interface Delivery {
  /** The same in each attempt, by whichever leader. */
  id: string;
  target: string;
  daemonSet: DaemonSetRef;
  notification: RolloutNotification;
}

/** Tells receivers outside of the cluster. Its methods return at once. */
export interface Notifier {
  /** Which targets hear of the DaemonSets of a namespace, as configured now. */
  terms(namespace: string): Omit<NotificationTerms, 'isSettled'>;
  /**
   * Sends in the background until the target has it, or it is given up; then calls `settled`. When the signal aborts, it
   * stops and doesn't call it. Returns what gives it up; undefined, if too much waits already: try again later.
   */
  send(delivery: Delivery, settled: () => void, signal: AbortSignal): ((why: string) => void) | undefined;
}

export interface OutboxOptions {
  notifier: Notifier;
  daemonSet: DaemonSetRef;
  clock: Pick<Clock, 'now'>;
  /** Called when a notification needs no further attempt: its target leaves the status. */
  onSettled: () => void;
}

interface Sent {
  settled: boolean;
  giveUp?: ((why: string) => void) | undefined;
}

/** When to offer again what the notifier had no room for. */
const RETRY_MS = 10_000;

/**
 * The notifications of one rollout. They are written into the DaemonRollout together with what they tell of, sent only once
 * they are written, and taken out once their target has them. So no change of leader loses one or enters one twice; what was
 * received just before a leader died is sent again, with the same id.
 */
export interface Outbox {
  /** The field `notifications` of the status that follows `before`. */
  next(before: DaemonRolloutStatus | undefined, after: WrittenStatus): Required<DaemonRolloutStatus>['notifications'];
  /** Sends what a status that was written lists. Returns when to call it again without a change, epoch ms. */
  send(written: DaemonRolloutStatus | undefined, signal: AbortSignal): number;
  /** Nobody sends what is left. */
  giveUp(): void;
  /** Another leader sends what is left. */
  clear(): void;
}

export const createOutbox = ({ notifier, daemonSet, clock, onSettled }: OutboxOptions): Outbox => {
  /** What the notifier has, by id and target, and whether it is done with it. */
  const sent = new Map<string, Sent>();
  const idOf = (notification: RolloutNotification): string => notificationId(daemonSet.uid, notification);
  const keyOf = (notification: RolloutNotification, target: string): string => `${idOf(notification)} ${target}`;
  const isSettled = (notification: RolloutNotification, target: string): boolean =>
    sent.get(keyOf(notification, target))?.settled ?? false;

  return {
    next: (before, after) =>
      notificationsOf(before, after, { ...notifier.terms(daemonSet.namespace), isSettled }, clock.now()),

    send(written, signal) {
      const pending = written?.notifications?.pending ?? [];
      const listed = new Set<string>();
      /** Targets with no room: what comes later is not sent before. */
      const full = new Set<string>();
      const { stragglersAfterMs } = notifier.terms(daemonSet.namespace);
      const stragglers = stragglersAt(written ?? {}, stragglersAfterMs);
      // If the time has come, the next status says so.
      const again = stragglers > clock.now() ? stragglers : Number.POSITIVE_INFINITY;
      for (const notification of pending) {
        for (const target of notification.targets) {
          const key = keyOf(notification, target);
          listed.add(key);
          if (sent.has(key) || full.has(target)) continue;
          const entry: Sent = { settled: false };
          const settled = (): void => {
            entry.settled = true;
            onSettled();
          };
          const delivery = { id: idOf(notification), target, daemonSet, notification };
          entry.giveUp = notifier.send(delivery, settled, signal);
          if (entry.giveUp) sent.set(key, entry);
          else full.add(target);
        }
      }
      for (const [key, { giveUp }] of sent) {
        if (listed.has(key)) continue;
        sent.delete(key);
        giveUp?.('the DaemonRollout no longer lists it');
      }
      return full.size > 0 ? Math.min(again, clock.now() + RETRY_MS) : again;
    },

    giveUp() {
      for (const { giveUp } of sent.values()) giveUp?.('the DaemonSet is no longer managed');
    },

    clear: () => sent.clear(),
  };
};
