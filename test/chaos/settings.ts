import { type Storm, storms } from './plan.ts';

export interface Settings {
  seed: number;
  /** How long faults are injected. */
  minutes: number;
  storm: Storm;
}

/** As short as a stop of one minute permits. */
const DEFAULT_MINUTES = 2;

/**
 * `EDGESET_SEED`: a whole number or `random`. `EDGESET_CHAOS_MINUTES`: how long faults are injected. `EDGESET_CHAOS_STORM`:
 * the mix of operations, `everything` (default) or `leaders`.
 */
export const readSettings = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const { EDGESET_SEED: chosen = '1', EDGESET_CHAOS_MINUTES: length = String(DEFAULT_MINUTES) } = environment;
  const seed = chosen === 'random' ? Number(process.hrtime.bigint() % 2n ** 31n) : Number(chosen);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`EDGESET_SEED must be a whole number or random, not "${chosen}"`);
  const minutes = Number(length);
  if (!Number.isFinite(minutes) || minutes <= 0)
    throw new Error(`EDGESET_CHAOS_MINUTES must be a number of minutes, such as 2 or 30, not "${length}"`);
  const named = environment['EDGESET_CHAOS_STORM'] ?? 'everything';
  const storm = storms.find((each) => each === named);
  if (!storm) throw new Error(`EDGESET_CHAOS_STORM must be ${storms.join(' or ')}, not "${named}"`);
  return { seed, minutes, storm };
};
