import type { Behaviour } from '../../../embedded/index.ts';
import { createGenerator } from '../../support/index.ts';
import type { CallFault } from '../network/call.ts';
import { withClosedStages } from './generate-closed-stages.ts';
import { createLifecycleGenerator } from './generate-lifecycle.ts';
import { addOwnerSteps } from './generate-owners.ts';
import { poisonSteps, withOwnPoisons } from './generate-poisons.ts';
import { withRolloutPlan } from './generate-rollout-plan.ts';
import { withoutNoOps } from './no-ops.ts';
import {
  type CallMatch,
  type FaultKind,
  isStepFault,
  type Operation,
  type Plan,
  type PlannedStep,
  type StepFault,
  type Watched,
} from './plan.ts';

const budgets = ['1', '1', '2', '3', '10%', '34%', '50%', '100%'] as const;
const badVersions: readonly Behaviour[] = [
  'crash-loop',
  'not-pullable',
  'never-ready',
  'dies-after-ready',
  'failed',
  'kills-node',
];
const badNodes: readonly Behaviour[] = ['slow', 'stuck-terminating', 'never-ready', 'crash-loop'];
const watched: readonly Watched[] = ['pods', 'nodes', 'daemonsets', 'controllerrevisions', 'daemonrollouts'];

/** Faults that are drawn together; the others have chances of their own. */
type DrawnFault = Exclude<StepFault, 'F24'>;

const LATER_FAULTS: ReadonlySet<FaultKind> = new Set<FaultKind>(['F25', 'F26']);

/** A plan from a seed: some rollouts, and faults of the given kinds during them. */
export const generatePlan = (seed: number, kinds: readonly FaultKind[]): Plan => {
  const chance = createGenerator(seed);
  const { oneOf: one } = chance;
  const nodes = chance.happens(0.8) ? chance.between(1, 6) : chance.between(7, 30);
  const node = (): string => `node-${chance.between(0, nodes - 1)}`;
  const steps: PlannedStep[] = [];
  let now = chance.between(8_000, 20_000);
  /** The steps that are added now are this fault. */
  let fault: DrawnFault | undefined;
  const put = (at: number, operation: Operation): void => void steps.push({ at, operation, ...(fault && { fault }) });
  /** Ends a fault; it is none itself. */
  const end = (at: number, operation: Operation): void => void steps.push({ at, operation });
  const soon = (within: number): number => now + chance.between(0, within);

  // Few kinds of faults with many steps each, so that their combinations are more frequent.
  // One plan in ten may have the faults that came last, so that the others stay the plans that their seeds always gave.
  const isEarlier = (each: FaultKind): boolean => !LATER_FAULTS.has(each);
  const drawable = seed % 10 === 0 || !kinds.some(isEarlier) ? kinds : kinds.filter(isEarlier);
  const chosen = drawable.filter((each): each is DrawnFault => isStepFault(each) && each !== 'F24');
  const focus = Array.from({ length: chosen.length > 0 ? chance.between(1, 4) : 0 }, () => one(chosen));
  const limit = one(budgets);
  // Advanced DaemonSets have no native controller that could be delayed.
  const drawn = focus.includes('F15') ? 'native' : one(['native', 'advanced'] as const);
  const kind = focus.includes('F26') && !focus.includes('F15') ? 'advanced' : drawn;
  const strategy = kind === 'native' ? 'recreate' : one(['recreate', 'in-place', 'surge'] as const);

  /** Calls that every rollout makes. */
  const calls: readonly CallMatch[] = [
    { verb: strategy === 'in-place' ? 'patch' : 'delete', plural: 'pods' },
    ...(strategy === 'surge' ? [{ verb: 'create', plural: 'pods' } as const] : []),
    { verb: 'update', plural: 'daemonrollouts' },
    {},
  ];
  const callFault = (what: CallFault): void => put(soon(6_000), { do: 'call-fault', fault: what, of: one(calls) });
  const inject: Record<DrawnFault, () => void> = {
    F1: () =>
      callFault(
        chance.happens(0.7)
          ? { kind: 'refuse', status: one([409, 410, 422, 429, 500, 503] as const) }
          : { kind: one(['reset-request', 'lose-request', 'truncate'] as const) },
      ),
    F2: () => {
      if (chance.happens(0.8))
        return callFault({ kind: one(['lose-answer', 'reset-answer', 'lose-request'] as const) });
      return put(soon(6_000), { do: 'cut', who: 'leader', forMs: chance.between(1_000, 60_000) });
    },
    F3: () => callFault({ kind: 'crash', when: one(['before', 'after'] as const) }),
    F4: () => {
      if (chance.happens(0.8))
        return callFault({ kind: 'stop', when: one(['before', 'after'] as const), ms: chance.between(5_000, 60_000) });
      return put(soon(6_000), { do: 'stop', who: 'leader', forMs: chance.between(5_000, 60_000) });
    },
    F5: () =>
      put(soon(4_000), {
        do: 'lag',
        watch: one(watched),
        ms: chance.between(100, 60_000),
        forMs: chance.between(2_000, 60_000),
      }),
    F6: () =>
      put(soon(6_000), {
        do: 'disturb',
        watch: one(watched),
        how: one(['drop', 'silence', 'gone', 'reset', 'truncate'] as const),
      }),
    F7: () => put(soon(6_000), { do: 'disturb', watch: one(watched), how: 'duplicate' }),
    F8: () =>
      put(soon(6_000), {
        do: 'restart-api',
        behindMs: chance.between(200, 20_000),
        // Long enough for watches to be opened again meanwhile.
        forMs: chance.between(3_000, 15_000),
      }),
    F9: () => {
      const which = node();
      const at = soon(8_000);
      const back = at + chance.between(1_000, 90_000);
      switch (chance.between(0, 5)) {
        case 0:
          put(at, { do: 'delete-node', node: which });
          end(back, { do: 'create-node', node: which });
          return;
        case 1:
          return put(at, { do: 'recreate-node', node: which });
        case 2:
          put(at, { do: 'label', node: which, role: 'other' });
          end(back, { do: 'label', node: which, role: 'edge' });
          return;
        case 3:
          put(at, { do: 'taint', node: which, effect: one(['NoSchedule', 'NoExecute'] as const) });
          end(back, { do: 'taint', node: which, effect: undefined });
          return;
        default:
          put(at, { do: 'offline', node: which });
          end(back, { do: 'online', node: which });
      }
    },
    F10: () => {
      const which = node();
      const at = now + chance.between(200, 4_000);
      put(at, { do: 'offline', node: which });
      end(at + chance.between(45_000, 400_000), { do: 'online', node: which });
    },
    F11: () => {
      const which = node();
      if (chance.happens(0.5)) return put(now - chance.between(-6_000, 3_000), { do: 'delete-pod', node: which });
      const at = soon(5_000);
      put(at, { do: 'behave', node: which, behaviour: one(badNodes) });
      end(at + chance.between(5_000, 60_000), { do: 'behave', node: which, behaviour: undefined });
    },
    F12: () => {
      put(soon(2_000), { do: 'release', image: `app:bad-${chance.between(1, 9)}--${one(badVersions)}` });
      // Killed nodes stay offline until they recover.
      now += chance.between(5_000, 120_000);
    },
    F13: () => {
      put(now, { do: 'skew', ms: chance.between(-600_000, 600_000) });
      put(soon(4_000) + 1, { do: 'crash', who: 'leader' });
    },
    F14: () => {
      switch (chance.between(0, 5)) {
        case 0:
          return put(soon(6_000), { do: 'budget', limit: one([...budgets, '0']) });
        case 1: {
          const at = soon(5_000);
          put(at, { do: 'pause', paused: true });
          return end(at + chance.between(1_000, 30_000), { do: 'pause', paused: false });
        }
        case 2: {
          const at = soon(5_000);
          put(at, { do: 'partition', nodes: chance.between(1, nodes) });
          return end(at + chance.between(1_000, 30_000), { do: 'partition', nodes: 0 });
        }
        case 3:
          return put(soon(6_000), { do: 'recreate-set' });
        default:
          return put(soon(6_000), { do: 'release', image: `app:v${chance.between(1, 4)}` });
      }
    },
    F15: () => {
      const at = soon(3_000);
      put(
        at,
        chance.happens(0.5)
          ? { do: 'native', how: 'pause' }
          : { do: 'native', how: 'lag', ms: chance.between(100, 10_000) },
      );
      end(at + chance.between(1_000, 40_000), { do: 'native', how: 'resume' });
      end(at + 41_000, { do: 'native', how: 'lag', ms: 0 });
    },
    F16: () => put(soon(6_000), { do: 'burst', changes: chance.happens(0.02) ? 10_000 : chance.between(20, 200) }),
    F17: () => {
      const which = node();
      const at = soon(8_000);
      const wait = chance.between(0, 2_000);
      switch (chance.between(0, 3)) {
        case 0:
          return put(at, { do: 'owner', node: which, ask: { ask: 'again' }, times: chance.between(1, 3) });
        case 1:
          return put(at, { do: 'owner', node: which, ask: { ask: 'approve-older' } });
        case 2: {
          const ask = one(['upgrade', 'approve'] as const);
          return put(at, { do: 'owner', node: which, ask: { ask }, times: chance.between(2, 4) });
        }
        default:
          end(at, { do: 'agent', node: which, how: 'cut', forMs: chance.between(3_000, 60_000) });
          return put(at + wait, {
            do: 'owner',
            node: which,
            ask: { ask: one(['queue', 'upgrade', 'approve'] as const) },
          });
      }
    },
    F18: () =>
      put(soon(6_000), {
        do: 'oversized',
        plural: one([
          'pods',
          'daemonrollouts',
          'daemonrollouts',
          ...(kind === 'advanced' ? ['controllerrevisions'] : []),
        ]),
        forMs: chance.between(2_000, 60_000),
      }),
    F19: () =>
      chance.happens(0.5)
        ? put(soon(6_000), { do: 'crowd', forMs: chance.between(2_000, 40_000) })
        : put(soon(6_000), { do: 'neighbour', count: chance.between(1, 5) }),
    F20: () =>
      put(soon(6_000), {
        do: 'webhook',
        plural: one(['pods', 'pods', 'daemonrollouts']),
        ms: chance.between(200, 29_000),
        refuses: chance.happens(0.3),
        forMs: chance.between(2_000, 60_000),
      }),
    F21: () => put(soon(6_000), { do: 'etcd-full', forMs: chance.between(1_000, 60_000) }),
    F22: () =>
      put(soon(6_000), {
        do: 'rotate',
        what: one(['token', 'authority'] as const),
        followMs: chance.happens(0.3) ? 0 : chance.between(1, 60_000),
      }),
    F25: () =>
      put(soon(6_000), {
        do: 'hold-pod',
        node: node(),
        deletes: chance.happens(0.5),
        forMs: chance.between(2_000, 120_000),
      }),
    F26: () => {
      if (kind === 'native') return;
      put(soon(6_000), {
        do: 'hand-over',
        first: one(['apply', 'delete'] as const),
        paceMs: chance.between(100, 5_000),
      });
      // Until it is back, there is nothing that other faults could disturb.
      now += chance.between(10_000, 60_000);
    },
  };

  const releases = chance.between(1, 3);
  for (let release = 1; release <= releases; release += 1) {
    put(now, { do: 'release', image: `app:v${release}` });
    for (let faults = focus.length > 0 ? chance.between(0, 6) : 0; faults > 0; faults -= 1) {
      fault = one(focus);
      inject[fault]();
      fault = undefined;
    }
    now += chance.between(3_000, 60_000);
  }
  if (kinds.includes('F24')) steps.push(...poisonSteps(seed, steps, chosen.length === 0));
  // All faults end, and a good version is released.
  const over = Math.max(now, ...steps.map(({ at }) => at)) + 1_000;
  put(over, { do: 'recover' });
  put(over + 1_000, { do: 'release', image: 'app:final' });
  const terms = {
    seed,
    nodes,
    managers: focus.includes('F4') || chance.happens(0.5) ? 2 : 1,
    kind,
    strategy,
    limit,
    settleSeconds: one([0, 2, 10]),
    minReadySeconds: one([0, 0, 0, 5]),
    ...(focus.includes('F4') && chance.happens(0.4) && { clocksApartMs: one([-600_000, 600_000]) }),
  };
  // Only owners send requests.
  const model = focus.includes('F17') || chance.happens(0.2) ? 'ota' : 'auto';
  if (model === 'ota') {
    const news = steps.filter(({ operation }) => operation.do === 'release').map(({ at }) => at);
    addOwnerSteps({ chance, one, nodes, releases: news, put });
    // Owners may keep such a version, which would kill nodes for ever: faults would never end.
    for (const { operation } of steps)
      if (operation.do === 'release') operation.image = operation.image.replace('--kills-node', '--failed');
  }
  const lifecycles = createLifecycleGenerator({ chance, one, nodes, budgets, over, put });
  const first = { ...terms, model, ...lifecycles.traits({ kind, model }) } as const;
  lifecycles.walk(first, 0);
  const others = lifecycles.others(model);
  // Nodes come back reinstalled (see the executor): with a good version, or they would die once more.
  const isLethal = steps.some(
    ({ operation }) => operation.do === 'release' && operation.image.includes('--kills-node'),
  );
  if (others.length > 0 || isLethal) end(over - 1, { do: 'release', image: 'app:final' });
  const plan = { ...first, ...(others.length > 0 && { others }), steps: steps.toSorted((a, b) => a.at - b.at) };
  const planned = withClosedStages(withRolloutPlan(plan, over), over);
  return withoutNoOps(kinds.includes('F24') ? withOwnPoisons(planned, over, chosen.length === 0) : planned);
};
