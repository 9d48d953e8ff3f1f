import type { Clock, Timer } from '../../runtime/index.ts';

export interface SeatsOptions {
  clock: Clock;
  /** How much runs at the same time, without what is slow. */
  total: number;
  /** How much of one group runs at the same time, slow or not. Less for a group whose work is refused. */
  perGroup: number;
  /** What has run for longer is slow. Infinity: nothing is. */
  slowMs: number;
  /** Called when a seat may be free after one was refused. */
  onRoom: () => void;
}

/** Gives back a seat. Calling it twice does nothing. */
export type LeaveSeat = () => void;

export interface Seats {
  /** Takes a seat for the group; undefined while there is none. */
  take(group: string): LeaveSeat | undefined;
  /** No group has a seat. */
  isFull(): boolean;
  /** Work of the group was refused, because there was too much of it: the group has one seat less. */
  narrow(group: string): void;
}

/** After so long without a refusal, a narrowed group has one seat more. */
const WIDEN_MS = 5_000;

/**
 * Seats that groups share. One group, such as a namespace whose admission webhook hangs, can neither take all seats nor
 * keep those that it takes: work that has run for `slowMs` keeps its seat only in the count of its group.
 */
export const createSeats = ({ clock, total, perGroup, slowMs, onRoom }: SeatsOptions): Seats => {
  /** The seats that count towards the total, oldest first, with when they were taken. */
  const quick = new Map<object, number>();
  const groups = new Map<string, number>();
  /** What narrowed groups were left with, by when they were refused last. */
  const narrowed = new Map<string, { seats: number; at: number }>();
  let refused = false;
  let timer: Timer | undefined;

  const dropSlow = (): void => {
    const now = clock.now();
    for (const [seat, since] of quick) {
      if (now - since < slowMs) return;
      quick.delete(seat);
    }
  };

  const isFull = (): boolean => {
    if (quick.size >= total) dropSlow();
    return quick.size >= total;
  };

  const makeRoom = (): void => {
    if (!refused) return;
    refused = false;
    timer?.cancel();
    timer = undefined;
    onRoom();
  };

  /** Without a seat to be left, room comes when the oldest one becomes slow. */
  const awaitSlow = (): void => {
    const [oldest] = quick.values();
    if (timer !== undefined || slowMs === Number.POSITIVE_INFINITY || oldest === undefined) return;
    timer = clock.timer(Math.max(1, oldest + slowMs - clock.now()), makeRoom);
  };

  const limitOf = (group: string): number => {
    const last = narrowed.get(group);
    return last ? Math.min(perGroup, last.seats + Math.floor((clock.now() - last.at) / WIDEN_MS)) : perGroup;
  };

  return {
    isFull,
    narrow(group) {
      const at = clock.now();
      const seats = Math.max(1, Math.min(limitOf(group), groups.get(group) ?? 0) - 1);
      narrowed.delete(group);
      narrowed.set(group, { seats, at });
      for (const [each, last] of narrowed) {
        if (at - last.at < perGroup * WIDEN_MS) return;
        narrowed.delete(each);
      }
    },
    take(group) {
      const inGroup = groups.get(group) ?? 0;
      const full = isFull();
      if (full || inGroup >= limitOf(group)) {
        refused = true;
        if (full) awaitSlow();
        return undefined;
      }
      const seat = {};
      quick.set(seat, clock.now());
      groups.set(group, inGroup + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        quick.delete(seat);
        const others = (groups.get(group) ?? 1) - 1;
        if (others > 0) groups.set(group, others);
        else groups.delete(group);
        makeRoom();
      };
    },
  };
};

export interface SeatQueue {
  /**
   * Resolves with what gives the seat back. The groups take turns, and within a group the first comes first. Rejects with
   * the signal's reason when it aborts.
   */
  acquire(group: string, signal?: AbortSignal): Promise<LeaveSeat>;
  /** See `Seats`. */
  narrow(group: string): void;
}

/** Seats that callers wait for. */
export const createSeatQueue = (options: Omit<SeatsOptions, 'onRoom'>): SeatQueue => {
  const waiting = new Map<string, Set<(leave: LeaveSeat) => void>>();

  const serve = (): void => {
    // A group that was served is put behind the others, and so visited again.
    for (const [group, callers] of waiting) {
      const leave = seats.take(group);
      const [first] = callers;
      if (leave === undefined || first === undefined) {
        leave?.();
        if (seats.isFull()) return;
        continue;
      }
      callers.delete(first);
      waiting.delete(group);
      if (callers.size > 0) waiting.set(group, callers);
      first(leave);
    }
  };
  const seats = createSeats({ ...options, onRoom: serve });

  return {
    narrow: (group) => seats.narrow(group),
    acquire(group, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const leave = waiting.has(group) ? undefined : seats.take(group);
      if (leave !== undefined) return Promise.resolve(leave);
      return new Promise((resolve, reject) => {
        const callers = waiting.get(group) ?? new Set();
        const onAbort = (): void => {
          callers.delete(grant);
          if (callers.size === 0 && waiting.get(group) === callers) waiting.delete(group);
          reject(signal?.reason);
        };
        const grant = (given: LeaveSeat): void => {
          signal?.removeEventListener('abort', onAbort);
          resolve(given);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.set(group, callers.add(grant));
      });
    },
  };
};
