import type { Env } from '../runtime/index.ts';

export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
}

/** Delay before attempt `failures` + 1: doubles from `baseMs` up to `maxMs`, then takes a random half off. */
export const backoffMs = (env: Pick<Env, 'random'>, failures: number, { baseMs, maxMs }: BackoffOptions): number => {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return full * (0.5 + env.random() / 2);
};
