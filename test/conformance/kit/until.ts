import { setTimeout as pause } from 'node:timers/promises';

export type Truthy<T> = Exclude<T, false | null | undefined | '' | 0>;

/** Asks five times a second, by default, until the answer is truthy, and resolves with it; a probe that throws has not answered yet. */
export const until = async <T>(
  what: string,
  probe: () => Promise<T> | T,
  withinMs = 60_000,
  everyMs = 200,
): Promise<Truthy<T>> => {
  const end = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await probe();
      if (answer) return answer as Truthy<T>;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain until ${what}`, { cause: last });
    await pause(everyMs);
  }
};
