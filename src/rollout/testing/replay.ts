/** How many plans a property plays, before its own factor. */
export const runs = Number(process.env['EDGESET_RUNS'] ?? 250);

/** The same plans each time, so that a failure is of the change at hand; `EDGESET_SEED=random` plays fresh ones. */
const chosen = process.env['EDGESET_SEED'] ?? '1';
export const seed = chosen === 'random' ? Number(process.hrtime.bigint() % 2n ** 31n) : Number(chosen);
if (!Number.isSafeInteger(seed)) throw new Error(`EDGESET_SEED must be a whole number or random, not "${chosen}"`);
/** A person who plays fresh plans is told how to play them again. */
export const isFresh = chosen === 'random';
