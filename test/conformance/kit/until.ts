import { eventually, type Truthy } from '../../support/index.ts';

export type { Truthy } from '../../support/index.ts';

/** `eventually` with the patience that a real control plane on a busy machine needs, and no more load than it bears. */
export const until = <T>(
  what: string,
  probe: () => Promise<T> | T,
  withinMs = 60_000,
  everyMs = 200,
): Promise<Truthy<T>> => eventually(what, probe, { withinMs, everyMs });
