import { createHash } from 'node:crypto';
import type { Breach } from './checker/report.ts';
import type { Deed, Happening, Plan } from './plan.ts';
import { createWorld, type World } from './world.ts';

export interface Outcome {
  breaches: readonly Breach[];
  /** Of the whole history, byte by byte. */
  digest: string;
  lines: readonly string[];
  acts: number;
  /** Of managers, leases and Events left out. */
  writes: number;
  /** How often each fault and each deed met something. */
  fired: ReadonlyMap<string, number>;
  checked: ReadonlyMap<string, number>;
  /** What was measured. */
  figures: ReadonlyMap<string, number>;
  /** Virtual time, ms. */
  tookMs: number;
}

/** Characters of a history that wait to be hashed. */
const MOST_TOLD = 65_536;
/** What a rollout may take once nothing is wrong any more: breaker and progress deadline included. */
const PATIENCE_MS = 45 * 60_000;
const REST_MS = 30_000;
const MOST_RESTS = 8;

/** How often faults that have met nothing are tried again, with a rollout for them to meet. */
const MOST_ENCORES = 12;
const ENCORE_MS = 60_000;

/** Those that can be met at the same time: one release, and one way to fare for each node. */
const together = (happenings: readonly Happening[]): readonly Happening[] => {
  const taken = new Set<string>();
  const releases = happenings.some(({ deed }) => deed.do === 'release');
  return happenings.filter(({ deed }) => {
    // Kubernetes' own controller, hindered, would bring no node to the bad version.
    if (deed.do === 'native' && releases) return false;
    const what = deed.do === 'release' ? 'release' : deed.do === 'behave' ? deed.node : undefined;
    if (what === undefined) return true;
    if (taken.has(what)) return false;
    taken.add(what);
    return true;
  });
};

const playAgain = async (
  { time, carryOut }: World,
  happenings: readonly Happening[],
  { strategy, model, nodes }: Plan,
  encore: number,
): Promise<void> => {
  const now = (deed: Deed): void => carryOut({ at: 0, deed });
  // Calls are those of the strategy that the plan began with.
  now({ do: 'strategy', strategy });
  // Nodes that a bad version broke hold every slot until their owners agree to another one.
  if (model === 'ota')
    for (let index = 0; index < nodes; index += 1) now({ do: 'will', node: `node-${index}`, agrees: true });
  for (const happening of happenings) carryOut(happening);
  if (happenings.some(({ fault }) => fault === 'F13')) now({ do: 'crash', who: 'leader' });
  if (!happenings.some(({ fault }) => fault === 'F12')) now({ do: 'release', image: `app:encore-${encore}` });
  await time.advanceUntil(() => false, 1_000);
  now({ do: 'burst', changes: 30 });
  // Pods that are changed in place neither start nor end by themselves.
  for (const { deed } of happenings) if (deed.do === 'behave') now({ do: 'delete-pod', node: deed.node });
  await time.advanceUntil(() => false, ENCORE_MS);
  now({ do: 'mend' });
  now({ do: 'release', image: `app:last-${encore}` });
};

/** Plays a plan to its end: all its happenings, then until the rollout is over, then a while of rest. `keep`: the history's lines are told. */
export const play = async (plan: Plan, keep = false): Promise<Outcome> => {
  const lines: string[] = [];
  const hash = createHash('sha256');
  /** A hash is quicker with much at a time. */
  let told = '';
  const tellHash = (): void => {
    hash.update(told);
    told = '';
  };
  const world = createWorld(
    plan,
    (line) => {
      told += line;
      if (told.length > MOST_TOLD) tellHash();
      if (keep) lines.push(line);
    },
    keep,
  );
  const { time, checker } = world;
  const startedAt = time.now();
  const breaches: Breach[] = [];
  // A promise that nobody waits for hides a defect.
  const onRejection = (reason: unknown): void =>
    void breaches.push({ rule: 'crash', at: time.now(), text: `an unhandled rejection: ${String(reason)}` });
  process.on('unhandledRejection', onRejection);
  try {
    for (const happening of plan.happenings) {
      await time.advanceUntil(() => false, startedAt + happening.at - time.now());
      world.carryOut(happening);
    }
    const isOver = (): boolean => checker.hasBreaches() || checker.isFinished();
    let done = await time.advanceUntil(isOver, PATIENCE_MS);
    for (let encore = 1; done && checker.breaches.length === 0 && encore <= MOST_ENCORES; encore += 1) {
      const unmet = world.unmet(plan.happenings);
      if (unmet.length === 0) break;
      await playAgain(world, together(unmet), plan, encore);
      done = await time.advanceUntil(isOver, PATIENCE_MS);
    }
    if (!done)
      breaches.push({ rule: 'L1', at: time.now(), text: `not at the target: ${checker.unfinished().join('; ')}` });
    if (done) checker.over();
    if (done && checker.breaches.length === 0) {
      await time.advanceUntil(() => false, REST_MS);
      let before = checker.account.lastWriteAt;
      let restedAt = time.now();
      await time.advanceUntil(() => false, REST_MS);
      // Nodes that a bad version kills may die late, and a process may still be asleep.
      let atRest = true;
      const stirred = (): boolean => !atRest || world.lastStirAt() > restedAt - REST_MS || !world.isAtRest();
      for (let windows = 1; windows < MOST_RESTS && stirred(); windows += 1) {
        before = checker.account.lastWriteAt;
        restedAt = time.now();
        atRest = world.isAtRest();
        await time.advanceUntil(() => false, REST_MS);
      }
      if (checker.account.lastWriteAt !== before)
        breaches.push({
          rule: 'S15',
          at: checker.account.lastWriteAt,
          text: 'something is written though nothing happens',
        });
      const left = checker.unfinished();
      if (left.length > 0)
        breaches.push({ rule: 'L1', at: time.now(), text: `did not stay at the target: ${left.join('; ')}` });
      for (const { fault, deed } of world.unmet(plan.happenings))
        breaches.push({
          rule: 'unfired',
          at: time.now(),
          text: `${fault ?? 'a fault'} met nothing: ${JSON.stringify(deed)}`,
        });
    }
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  tellHash();
  const digest = hash.digest('hex');
  return {
    breaches: [...checker.breaches, ...breaches],
    digest,
    lines,
    acts: checker.account.acts,
    writes: world.writes(),
    fired: world.fired,
    checked: checker.checked,
    figures: checker.figures,
    tookMs: time.now() - startedAt,
  };
};
