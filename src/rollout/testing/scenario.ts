import { createGenerator } from '../../../test/support/index.ts';
import { createVirtualClock } from '../../runtime/index.ts';
import { count, type IntOrPercent, percent } from '../policy/int-or-percent.ts';
import { createChecker } from './checker.ts';
import { type Behaviour, createModelCluster, hashOf } from './model-cluster.ts';
import { createModelDriver, type Driver, type Witness } from './model-driver.ts';
import type { Met, Weather } from './model-process.ts';
import { policyWith } from './policy.ts';

/** One thing that happens to the cluster, at a time of the scenario in ms; `pick` chooses the node. */
export type Happening = { at: number; pick: number } & (
  | {
      kind:
        | 'disconnect'
        | 'connect'
        | 'vanish'
        | 'return'
        | 'cordonOff'
        | 'comeBack'
        | 'upset'
        | 'deleteByHand'
        | 'deselect';
    }
  | { kind: 'version'; behaviour: Behaviour; share: number }
  | { kind: 'back' }
  | { kind: 'budget'; value: number; percent: boolean }
  | { kind: 'pause' | 'resume' | 'crash' | 'secondLeader' | 'storm' | 'calm' }
  | { kind: 'partition'; value: number }
  /** A process's clock jumps by so much. */
  | { kind: 'clock'; byMs: number }
);

export interface Plan {
  seed: number;
  nodes: number;
  zones: number;
  budget: number;
  minReadyMs: number;
  happenings: readonly Happening[];
  onFailure: 'halt' | 'rollback';
  /** Pods are changed in place where the versions allow it: those that four divides have new pods. Default false. */
  inPlace?: boolean;
  /** New pods come beside the old ones, on as many nodes as the budget says. Default false. */
  surge?: boolean;
}

export interface Options {
  claims?: boolean;
  fences?: boolean;
  /** Takes note of what the run met. */
  met?: Set<Met>;
  /** Demands only that the rollout comes to its end and to rest. Default false. */
  endOnly?: boolean;
  /** Called after every decision, for checks of the ledger itself. */
  inspect?: Witness['decided'];
}

const START = Date.parse('2030-01-01T00:00:00Z');
const CALM: Weather = { lagMs: 100, lost: 0, refused: 0 };

/** A version that kills nodes does so until 8 s after its pods are ready, and for 20 s more they are seen to be online. */
const NODES_DIE_MS = 30_000;

/** From the end of all faults to the last node at the target: many times what one node takes after the other. */
const boundMs = (plan: Plan): number => 300_000 + plan.nodes * 60_000;

const allVersions = new Set(Array.from({ length: 100 }, (_, index) => hashOf(index)));
const inPlaceFrom = (version: number): ReadonlySet<string> => (version % 4 === 0 ? new Set() : allVersions);

/** Plays a plan, then ends all faults and demands that the rollout comes to its end and to rest. Throws on any breach. */
export const play = (plan: Plan, options: Options = {}) => {
  const time = createVirtualClock(START);
  const runTo = (end: number): void => time.run(Math.max(0, end - time.now()));
  const chance = createGenerator(plan.seed);
  const behaviours = new Map<string, { behaviour: Behaviour; share: number }>();
  const weather: Weather = { ...CALM };
  const shareOf = (value: IntOrPercent) =>
    plan.surge ? { maxSurge: value, maxUnavailable: count(0) } : { maxUnavailable: value };
  let calm = false;
  let versions = 1;
  let worstLagMs = CALM.lagMs;

  const cluster = createModelCluster({
    time,
    chance,
    nodes: plan.nodes,
    zones: plan.zones,
    policy: policyWith({
      ...shareOf(count(plan.budget)),
      minReadyMs: plan.minReadyMs,
      progressDeadlineMs: 120_000,
      suspectWindowMs: 120_000,
      onFailure: plan.onFailure,
      inPlace: plan.inPlace ?? false,
    }),
    ...(plan.inPlace && { gated: true, inPlaceFrom }),
    behaviourOf: (revision, node) => {
      const known = behaviours.get(revision);
      const bad = calm && known?.behaviour !== 'stick' ? undefined : known;
      return bad && (Number(node.slice(1)) % 10) / 10 < bad.share ? bad.behaviour : 'good';
    },
  });
  const checker = createChecker({ time, cluster, lagMs: () => worstLagMs + 200 });
  const witness: Witness = {
    ...(options.endOnly ? { wrote: (...what) => checker.witness.wrote(...what) } : checker.witness),
    met: (what) => options.met?.add(what),
    decided(driver, decision) {
      checker.witness.decided(driver, decision);
      options.inspect?.(driver, decision);
    },
  };
  const startDriver = (): Driver =>
    createModelDriver({
      time,
      chance,
      cluster,
      weather,
      witness,
      ...(options.claims === undefined ? {} : { claims: options.claims }),
      ...(options.fences === undefined ? {} : { fences: options.fences }),
    });
  let drivers = [startDriver()];
  const crash = (driver: Driver): void => {
    driver.crash();
    drivers = drivers.filter((each) => each !== driver);
    if (drivers.length === 0) drivers = [startDriver()];
  };

  const setVersion = (behaviour: Behaviour, share: number): void => {
    versions += 1;
    behaviours.set(`hash${versions}`, { behaviour, share });
    cluster.setVersion(versions);
  };

  const happen = (happening: Happening): void => {
    const name = `n${String(happening.pick % plan.nodes).padStart(5, '0')}`;
    const driver = drivers[happening.pick % drivers.length];
    switch (happening.kind) {
      case 'disconnect':
        return cluster.disconnect(name);
      case 'connect':
        return cluster.connect(name);
      case 'vanish':
        return cluster.removeNode(name);
      case 'return':
        return cluster.addNode(name, '');
      case 'cordonOff':
        return cluster.changeNode(name, { eligible: false });
      case 'comeBack':
        return cluster.changeNode(name, { eligible: true });
      case 'deselect':
        return cluster.changeNode(name, { selected: false });
      case 'upset':
        return cluster.upset(name, 5_000 + (happening.pick % 7) * 3_000);
      case 'deleteByHand':
        return cluster.deleteByHand(name);
      case 'version':
        return setVersion(happening.behaviour, happening.share);
      case 'back':
        return cluster.setVersion(Math.max(1, versions - 1));
      case 'budget':
        return cluster.setPolicy(shareOf(happening.percent ? percent(happening.value) : count(happening.value)));
      case 'partition':
        return cluster.setPolicy({ partition: count(happening.value) });
      case 'pause':
        return cluster.setPolicy({ paused: true });
      case 'resume': {
        const { hash } = cluster.spec.target;
        return cluster.setPolicy({ paused: false, resume: { hash, value: `${hash}/${happening.at}` } });
      }
      case 'crash':
        return driver && crash(driver);
      case 'secondLeader': {
        if (!driver || drivers.length > 1) return undefined;
        driver.pause();
        drivers.push(startDriver());
        time.timer(5_000 + (happening.pick % 60) * 1_000, () => driver.wake());
        time.timer(90_000, () => drivers.length > 1 && crash(driver));
        return undefined;
      }
      case 'clock':
        return driver?.setClock(driver.now() - time.now() + happening.byMs);
      case 'storm':
        Object.assign(weather, { lagMs: 200 + (happening.pick % 20) * 1_000, lost: 0.2, refused: 0.2 });
        worstLagMs = Math.max(worstLagMs, weather.lagMs);
        return undefined;
      case 'calm':
        Object.assign(weather, CALM);
        return undefined;
    }
  };

  runTo(START + 30_000);
  let faultsOverAt = START + 30_000;
  for (const happening of plan.happenings) {
    faultsOverAt = Math.max(faultsOverAt, START + 30_000 + happening.at);
    time.timer(30_000 + happening.at, () => happen(happening));
  }
  runTo(faultsOverAt + 95_000);

  // Faults are over: one process, good versions, no reason left to wait. Every third node may stay away.
  calm = true;
  Object.assign(weather, CALM);
  const [first, ...others] = drivers;
  if (!first) throw new Error('a driver must be left');
  for (const other of others) crash(other);
  first.wake();
  // The nodes that are lost to a version of before are known to be lost before the last one is set: it is not to blame.
  runTo(time.now() + NODES_DIE_MS + worstLagMs);
  for (const name of cluster.nodes.keys()) {
    if (chance.happens(0.7)) cluster.connect(name);
    cluster.changeNode(name, { eligible: true, selected: true });
  }
  cluster.setPolicy({ paused: false, partition: count(0), ...shareOf(count(plan.budget)) });
  setVersion('good', 0);
  const end = time.now() + boundMs(plan);
  runTo(end);
  const unfinished = checker.unfinished(first);
  if (unfinished.length > 0) {
    const { state, tally } = first.ledger;
    const told = JSON.stringify({ halted: state.halted, tally: { ...tally, causes: [...tally.causes] } });
    throw new Error(`L1 broken: ${unfinished.join('; ')}; ${told}`);
  }
  const { account } = checker;
  if (account.completions === 0 && [...cluster.nodes.values()].some(({ facts }) => facts.ready && facts.eligible))
    throw new Error('S16 broken: at its end a rollout must be told complete');
  const writes = account.writes;
  runTo(end + 1_200_000);
  if (account.writes !== writes) throw new Error(`S15 broken: ${account.writes - writes} writes at rest`);
  return { account, cluster, driver: first };
};
