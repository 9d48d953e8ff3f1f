import { createVirtualClock } from '../../src/runtime/index.ts';
import { createHub } from './hub.ts';
import { createMember, type Listener, type Member } from './member.ts';
import { CLUSTERS, DAY, HOUR, type Outcome, RINGS, type Scenario } from './scenario.ts';

/** Nobody interferes for so long: with a bad version over a long weekend. */
const WATCHED_MS = { good: 14 * DAY, bad: 3 * DAY };
const MOST = 0.9 * CLUSTERS;

/** Rolls one version out to a thousand clusters. The same scenario has the same outcome. */
export const simulate = (scenario: Scenario): Outcome => {
  const clock = createVirtualClock(0, { fractionMs: 0 });
  const isGood = scenario.version.kind === 'good';
  const hours = (): number => clock.now() / HOUR;
  const taken = new Set<Member>();
  const completed = new Set<Member>();
  const cut = new Set<Member>();
  const stripped = new Set<Member>();
  let lastRing = Number.POSITIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  const hub = createHub(clock, scenario.setting, (member) => stripped.add(member));
  const listener: Listener = {
    ...hub,
    started(member) {
      taken.add(member);
      if (member.ring === RINGS.length - 1) lastRing = Math.min(lastRing, hours());
    },
    completed(member) {
      completed.add(member);
      if (completed.size >= MOST) most = Math.min(most, hours());
    },
    cut: (member) => cut.add(member),
  };
  const rings = RINGS.flatMap((size, ring) => Array.from({ length: size }, () => ring));
  for (const [index, ring] of rings.entries()) {
    const wanted = () => hub.wanted(member);
    const member: Member = createMember(clock, scenario, { index, ring, wanted }, listener);
    hub.add(member);
  }
  hub.release();
  // Nothing that is counted of a good version comes after it.
  const isOver = (): boolean => isGood && most < Number.POSITIVE_INFINITY;
  clock.runUntil(isOver, isGood ? WATCHED_MS.good : WATCHED_MS.bad);
  return { taken: taken.size, cut: cut.size, lastRing, most, stripped: stripped.size };
};
