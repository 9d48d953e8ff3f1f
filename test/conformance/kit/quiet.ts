import type { Case } from './case.ts';

/** Calls of the case's managers that change something, from then on, epoch ms. Default: all. */
export const writesSince = async (c: Case, since = 0) =>
  (await c.calls()).filter(({ verb, receivedAt }) => receivedAt > since && !['get', 'list', 'watch'].includes(verb));

/**
 * Resolves once managers have written nothing but Leases for four seconds: the last words of a rollout come a moment after its end.
 */
export const untilQuiet = async (c: Case): Promise<void> => {
  let seen = { count: -1, since: 0 };
  await c.until('nothing is written for four seconds', async () => {
    const count = (await writesSince(c)).filter(({ resource }) => resource !== 'leases').length;
    if (count !== seen.count) seen = { count, since: performance.now() };
    return performance.now() - seen.since > 4_000;
  });
};
