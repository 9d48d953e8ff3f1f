import { createRandom, type VirtualClock } from '../../src/runtime/index.ts';
import { lognormal } from '../measure/lognormal.ts';
import type { WorkConditions } from './rollout-rules.ts';
import { DAY, HOUR, MINUTE, type Outages, type Scenario, SECOND } from './scenario.ts';

const DOWN_MEAN_MS = 12 * HOUR;
const DOWN_SIGMA = { mixed: 1.5, even: 0.2 } as const satisfies Record<Outages, number>;
/** A tenth of the time a cluster is offline. */
const UP_MEAN_MS = 9 * DOWN_MEAN_MS;
/** How long the outages have gone on before the rollout. */
const PAST_MS = 90 * DAY;
const LEASE_MS = MINUTE;
/** An agent looks what the hub wants, and reports, once in it. */
const POLL_MS = 10 * SECOND;
const NODES = 3;
const RESTART_MEAN_MS = 20 * SECOND;
/** From the first pod of a version that does not start to `Stalled`. */
const STALLS_AFTER_MS = 5 * MINUTE;

/** What a member tells the hub, and the world around both. */
export interface Listener {
  /** A renewal of its lease. */
  renewed(member: Member): void;
  /** It has lost its link: no renewal after `lastRenewal`. */
  silent(member: Member, lastRenewal: number): void;
  reported(member: Member, conditions: WorkConditions): void;
  /** What the rollout counts. */
  started(member: Member): void;
  completed(member: Member): void;
  cut(member: Member): void;
}

export interface Member {
  readonly name: string;
  readonly ring: number;
  readonly online: boolean;
  /** The hub has written its work: the agent fetches it as soon as it can. */
  wake(): void;
  /** The hub has deleted its work: the agent deletes the DaemonSet as soon as it can. */
  strip(): void;
}

export interface MemberOptions {
  index: number;
  ring: number;
  /** The generation of its work, once the hub has written the new version; undefined before. */
  wanted: () => number | undefined;
}

export const GENERATION = 2;

/**
 * A cluster of a few nodes that comes and goes, with Open Cluster Management's agent and edgeset's manager, which updates one
 * node at a time and goes on without the hub. It goes offline at the same times in each scenario of a seed.
 */
export const createMember = (
  clock: VirtualClock,
  { seed, version, minReadyMs, outages }: Scenario,
  { index, ring, wanted }: MemberOptions,
  listener: Listener,
): Member => {
  const stream = (purpose: number): (() => number) => createRandom((seed * 10_000 + index) * 4 + purpose);
  const [ofLink, ofUpdate, ofPolls] = [stream(0), stream(1), stream(2)];
  const exponential = (random: () => number, mean: number): number => -mean * Math.log(1 - random());
  const outageMs = lognormal(ofLink, DOWN_MEAN_MS, DOWN_SIGMA[outages]);
  const restartMs = lognormal(ofUpdate, RESTART_MEAN_MS, 0.5);
  const isDoomed = ofUpdate() < 0.5;

  let up = true;
  let isCut = false;
  /** Counts its contacts: what was begun in an earlier one is not finished in this one. */
  let contact = 0;
  let update: 'none' | 'running' | 'done' | 'stalled' = 'none';
  /** Counts its updates: what belongs to a DaemonSet that was deleted no longer counts. */
  let attempt = 0;

  const online = (): boolean => up && !isCut;

  /** At the next poll, if it has not lost its link by then. */
  const atNextPoll = (run: () => void): void => {
    const during = contact;
    clock.timer(ofPolls() * POLL_MS, () => {
      if (online() && contact === during) run();
    });
  };

  const report = (): void =>
    atNextPoll(() => {
      if (update === 'none') return;
      const condition = (holds: boolean) => ({
        status: holds ? ('True' as const) : ('False' as const),
        observedGeneration: GENERATION,
        since: clock.now(),
      });
      listener.reported(member, {
        applied: condition(true),
        progressing: condition(update !== 'done'),
        degraded: condition(update === 'stalled'),
      });
    });

  const loseLink = (lastRenewal: number): void => {
    contact += 1;
    listener.silent(member, lastRenewal);
  };

  const start = (): void => {
    update = 'running';
    attempt += 1;
    listener.started(member);
    report();
    const during = attempt;
    const at = (ms: number, run: () => void): void => {
      clock.timer(ms, () => {
        if (attempt === during) run();
      });
    };
    const end = (result: 'done' | 'stalled'): void => {
      update = result;
      if (result === 'done') listener.completed(member);
      if (online()) report();
    };
    const restarts = Array.from({ length: NODES }, restartMs);
    const [first = 0] = restarts;
    if (version.kind === 'halts') {
      at(first + STALLS_AFTER_MS, () => end('stalled'));
      return;
    }
    if (version.kind === 'cuts' && isDoomed)
      at(first + version.fromMs + ofUpdate() * (version.toMs - version.fromMs), () => {
        const had = online();
        isCut = true;
        listener.cut(member);
        if (had) loseLink(clock.now() - ofLink() * LEASE_MS);
      });
    at(
      restarts.reduce((sum, ms) => sum + ms + minReadyMs, 0),
      () => end('done'),
    );
  };

  const sync = (): void =>
    atNextPoll(() => {
      if (wanted() === GENERATION && update === 'none') start();
    });

  const change = (): void => {
    up = !up;
    clock.timer(up ? exponential(ofLink, UP_MEAN_MS) : outageMs(), change);
    const phase = ofLink() * LEASE_MS;
    if (isCut) return;
    if (!up) {
      loseLink(clock.now() - phase);
      return;
    }
    contact += 1;
    const during = contact;
    clock.timer(phase, () => {
      if (online() && contact === during) listener.renewed(member);
    });
    if (update === 'none') sync();
    else report();
  };

  let nextChange = -PAST_MS + exponential(ofLink, UP_MEAN_MS);
  while (nextChange <= clock.now()) {
    up = !up;
    nextChange += up ? exponential(ofLink, UP_MEAN_MS) : outageMs();
  }
  clock.timer(nextChange - clock.now(), change);

  const member: Member = {
    name: `cluster-${String(index).padStart(4, '0')}`,
    ring,
    get online() {
      return online();
    },
    wake: () => {
      if (online()) sync();
    },
    strip: () => {
      update = 'none';
      attempt += 1;
    },
  };
  return member;
};
