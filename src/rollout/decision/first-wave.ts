import type { Breaker } from '../fleet/breaker.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { type IntOrPercent, scaledValue } from '../policy/int-or-percent.ts';

/** How many more nodes may try a revision for each one that has proved it. */
const MORE_FOR_EACH = 3;

/** How many nodes may try a revision that is available on `proven` nodes. */
export const waveAfter = (first: number, proven: number): number => first + MORE_FOR_EACH * proven;

/** What a revision has proved so far, and how many nodes may try it. */
export interface FirstWave {
  /** As it is set; undefined: the failure threshold. */
  setting: IntOrPercent | undefined;
  /** How many nodes may try it before it has proved itself on any: as many as a version that fails everywhere can break. */
  first: number;
  /** Online nodes on which it is available. */
  proven: number;
  /**
   * Nodes with an update of it under way, on which it failed or is not available, also if it was before, or that went offline soon
   * after it.
   */
  onTrial: number;
  /** Nodes that are offline with a pod of it, and may prove it once they are back. */
  away: number;
  /** No further healthy node is updated while so many are on trial. */
  limit: number;
}

/**
 * A revision proves itself before it gets the whole budget. Undefined where that does not apply: owners decide, the target is
 * the revision that was last complete, or the setting is 100%. Nothing is remembered: what is proven is what the cluster shows.
 * `managers`: the setting of policies that have none.
 */
export const firstWaveOf = (
  { policy, state, tally }: Pick<Ledger, 'policy' | 'state' | 'tally'>,
  { threshold }: Pick<Breaker, 'threshold'>,
  managers: IntOrPercent | undefined,
): FirstWave | undefined => {
  const setting = policy.firstWave ?? managers;
  if (policy.strategy !== 'auto' || state.rollback) return undefined;
  if (setting?.kind === 'percent' && setting.value === 100) return undefined;
  const first = Math.max(1, setting ? scaledValue(setting, tally.online, 'up') : threshold);
  const proven = tally.phases.updated;
  const away = tally.causes.get('offline-current') ?? 0;
  return { setting, first, proven, onTrial: tally.onTrial, away, limit: waveAfter(first, proven) };
};

/** The revision has to be available on more nodes before a further healthy one may try it. `more`: nodes about to try it. */
export const awaitsProof = (wave: FirstWave | undefined, more = 0): wave is FirstWave =>
  wave !== undefined && wave.onTrial + more >= wave.limit;

/**
 * How many updates follow one another until this many nodes have been updated, `width` at a time, if all of them work: of the last
 * wave, its share. `proven`: nodes that run the revision by then in addition.
 */
export const wavesOf = (
  wave: Pick<FirstWave, 'first' | 'proven'> | undefined,
  width: number,
  updates: number,
  proven = 0,
): number => {
  let [waves, left] = [0, updates];
  let works = (wave?.proven ?? 0) + proven;
  while (wave && left > 0) {
    const atOnce = waveAfter(wave.first, works);
    if (atOnce >= width) break;
    if (left <= atOnce) return waves + left / atOnce;
    waves += 1;
    left -= atOnce;
    works += atOnce;
  }
  return left > 0 ? waves + left / width : waves;
};

/** Failed nodes leave nobody to prove the revision on, not even those that are offline: waiting changes nothing. */
export const isUsedUp = (wave: FirstWave | undefined, { failures }: Pick<Breaker, 'failures'>): boolean =>
  wave !== undefined && failures >= waveAfter(wave.first, wave.proven + wave.away);

const nodes = (count: number): string => `${count} node${count === 1 ? '' : 's'}`;

/** What a version that fails everywhere can break, in words. */
export const firstWaveText = (wave: FirstWave | undefined, budget: number): string =>
  wave && wave.first < budget
    ? `First wave: ${wave.first}, and ${MORE_FOR_EACH} more for each node on which the revision is available (${wave.proven}); ${wave.onTrial} on trial. A version that fails everywhere breaks at most ${nodes(wave.first)}.`
    : `A version that fails everywhere breaks at most ${nodes(budget)}: the budget.`;
