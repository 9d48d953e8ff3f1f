import type { FakeFleet } from '../../src/dashboard/testing/index.ts';
import { head as known, row as knownRow } from '../../src/dashboard/testing/index.ts';
import type { NodeCell, RolloutHead, RolloutRow, StageStep } from '../../web/fleet/types.ts';

const SITES = ['aachen', 'berlin', 'bremen', 'dresden', 'essen', 'hamburg', 'hannover', 'kiel', 'koeln', 'leipzig'];
const EACH = 30;
const NOW = Date.now();
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

type Phase = NodeCell[1];
type Phases = RolloutHead['phases'];

const none: Phases = {
  updated: 0,
  updating: 0,
  outdated: 0,
  broken: 0,
  offline: 0,
  settling: 0,
  held: 0,
  failed: 0,
  missing: 0,
};

const siteOf = (index: number): string => SITES[Math.floor(index / EACH)] ?? '';

/** A fleet of 300 nodes at ten sites; the first of `phases` are the first nodes. */
const cellsOf = (phases: Partial<Phases>, stageOf: (index: number) => string = () => ''): NodeCell[] => {
  const list = Object.entries(phases).flatMap(([phase, count]) => Array<Phase>(count).fill(phase as Phase));
  return list.map((phase, index) => {
    const name = `${siteOf(index)}-${(index % EACH) + 1}`;
    const began = Math.round(NOW / 1_000) - 300;
    return [
      name,
      phase,
      'available',
      phase === 'updated' ? '698d5b4bff' : '5b69c76c6',
      began,
      began + 20,
      stageOf(index),
      '',
    ];
  });
};

const version = {
  from: '2.0.1',
  to: '2.1.0',
  changed: 1,
  images: [{ name: 'payment-terminal', from: '2.0.1', to: '2.1.0' }],
};

const headOf = (phases: Partial<Phases>, change: Partial<RolloutHead>): RolloutHead => {
  const all = { ...none, ...phases };
  const eligible = Object.values(all).reduce((sum, count) => sum + count, 0);
  return {
    ...known,
    namespace: 'pos',
    name: 'payment-terminal',
    version,
    target: '698d5b4bff',
    changedBy: 'kubectl-set',
    changeCause: 'Fix the reader of contactless cards',
    phases: all,
    eligible,
    online: eligible - all.offline,
    budget: { inUse: all.updating + all.failed, limit: 28 },
    startedAt: at(-6),
    causes: [{ cause: 'available', count: all.outdated }],
    notes: [],
    history: [
      {
        rollout: 2,
        result: 'InProgress',
        from: { revision: 'a', hash: '5b69c76c6', number: 1, images: ['registry/payment-terminal:2.0.1'] },
        to: { revision: 'b', hash: '698d5b4bff', number: 2, images: ['registry/payment-terminal:2.1.0'] },
        changedBy: { manager: 'kubectl-set', operation: 'Update', time: at(-6) },
        startedAt: at(-6),
        nodes: 28,
        failures: all.failed,
      },
      {
        rollout: 1,
        result: 'Complete',
        to: { revision: 'a', hash: '5b69c76c6', number: 1, images: ['registry/payment-terminal:2.0.1'] },
        startedAt: at(-600),
        finishedAt: at(-560),
        nodes: 300,
        failures: 0,
      },
    ],
    revisions: [
      { hash: '698d5b4bff', number: 2, images: ['registry/payment-terminal:2.1.0'] },
      { hash: '5b69c76c6', number: 1, images: ['registry/payment-terminal:2.0.1'] },
    ],
    ...change,
  };
};

const commands = (...verbs: ('undo' | 'resume')[]): RolloutHead['headline']['commands'] =>
  verbs.map((command) => ({ command, typed: `kubectl edgeset ${command} ds/payment-terminal -n pos` }));

const stage = (name: string, state: StageStep['state'], change: Partial<StageStep>): StageStep => ({
  name,
  state,
  nodes: { total: 100, online: 90, updated: state === 'Closed' ? 0 : 90 },
  awaits: '',
  way: '',
  checks: [],
  decisions: [],
  ...change,
});

const steps: readonly StageStep[] = [
  stage('canary', 'Passed', { promotedAt: at(-3), way: 'approved by anna@shop.example' }),
  stage('cities', 'Open', {
    awaits: 'waits for approval',
    soakUntil: at(4),
    checks: [
      { name: 'error-rate', state: 'Passing', message: '0.01 is below 0.05' },
      { name: 'latency', state: 'NoResult', message: 'the server does not answer' },
    ],
    decisions: ['approve', 'promote'],
  }),
  stage('rest', 'Closed', {}),
];

const inStages = (index: number): string => (index < 100 ? 'canary' : index < 200 ? 'cities' : 'rest');

const halted = { outdated: 216, failed: 28, held: 28, offline: 28 };
const running = { updated: 120, updating: 20, settling: 4, missing: 2, broken: 3, outdated: 123, offline: 28 };
const approval = { updated: 180, held: 92, offline: 28 };

const rollouts = {
  halted: {
    head: headOf(halted, {
      headline: {
        state: 'halted',
        badge: 'Halted: 28 failed',
        title: 'Version 2.1.0 crashes on start on all 28 nodes that got it',
        evidence:
          'Container main: CrashLoopBackOff (exit code 1, 8 restarts): panic: no reader at /dev/ttyUSB0. 244 nodes still run 2.0.1.',
        cause: { cause: 'crash-loop', count: 28 },
        node: 'aachen-1',
        commands: commands('undo', 'resume'),
      },
      stoppedAt: at(-5),
      breaker: { failures: 28, suspects: 2, haltsAt: 3 },
      undoTo: '2.0.1',
    }),
    nodes: cellsOf(halted),
  },
  running: {
    head: headOf(running, {
      headline: {
        state: 'running',
        badge: 'Rolling out: 44%',
        title: 'Version 2.1.0 is rolling out',
        evidence: '120 of 272 online nodes run it.',
        commands: [],
      },
      perMinute: 9.3,
      estimatedFinishAt: at(16),
      notes: ['The API server rejected updates of 2 of the nodes: see the FailedDelete Events of the DaemonSet.'],
    }),
    nodes: cellsOf(running),
  },
  paused: {
    head: headOf(running, {
      headline: {
        state: 'paused',
        badge: 'Paused',
        title: 'The rollout is paused',
        evidence: '',
        commands: commands('resume'),
      },
      stoppedAt: at(-3),
    }),
    nodes: cellsOf(running),
  },
  approval: {
    head: headOf(approval, {
      headline: {
        state: 'approval',
        badge: 'Waits for approval',
        title: 'Stage cities waits for approval',
        evidence: '180 of 272 online nodes run it.',
        commands: [
          {
            command: 'approve',
            stage: 'cities',
            typed: 'kubectl edgeset approve ds/payment-terminal --stage cities -n pos',
          },
        ],
      },
      stages: { plan: 'rings', steps },
      settings: { ...known.settings, plan: 'rings' },
    }),
    nodes: cellsOf(approval, inStages),
  },
  owners: {
    head: headOf(
      { outdated: 200, updated: 72, offline: 28 },
      {
        strategy: 'ota',
        budget: { inUse: 0, limit: 0 },
        headline: {
          state: 'owners',
          badge: 'Waits for 200 owners',
          title: 'The owner of each device decides when its pod is replaced',
          evidence: 'Condition PodNeedUpgrade of the pods shows the offer.',
          commands: [],
        },
      },
    ),
    nodes: cellsOf({ outdated: 200, updated: 72, offline: 28 }),
  },
  invalid: {
    head: headOf(
      { outdated: 272, offline: 28 },
      {
        headline: {
          state: 'invalid',
          badge: 'Invalid policy',
          title: 'The rollout policy is not valid',
          evidence: 'apps.openyurt.io/max-unavailable "ten" is not a number of nodes or a percentage: set 3 or 10%.',
          commands: [{ command: 'edit', typed: 'kubectl edit ds/payment-terminal -n pos' }],
        },
        settings: { ...known.settings, warnings: ['minReadySeconds (0 s) is shorter than the 10 s that ...'] },
        version: {
          from: '',
          to: '',
          changed: 2,
          images: [
            { name: 'payment-terminal', from: '2.0.1', to: '2.1.0' },
            { name: 'a-sidecar-with-quite-a-long-name', from: '', to: '1.0.0-rc.1-0123456789abcdef' },
          ],
        },
      },
    ),
    nodes: cellsOf({ outdated: 272, offline: 28 }),
  },
  clock: {
    head: headOf(approval, {
      headline: {
        state: 'clock',
        badge: 'Stage cities soaks',
        title: 'Stage cities soaks until 2030-01-01T00:00:00Z',
        evidence: '180 of 272 online nodes run it.',
        commands: [],
      },
    }),
    nodes: cellsOf(approval, inStages),
  },
  complete: {
    head: headOf(
      { updated: 272, offline: 28 },
      {
        headline: { state: 'complete', badge: 'Complete, 28 offline', title: '', evidence: '', commands: [] },
        finishedAt: at(-1),
      },
    ),
    nodes: cellsOf({ updated: 272, offline: 28 }),
  },
} as const satisfies Record<string, { head: RolloutHead; nodes: readonly NodeCell[] }>;

export type RolloutScene = keyof typeof rollouts;
export const rolloutScenes = Object.keys(rollouts) as readonly RolloutScene[];

const rowOf = (name: string, scene: RolloutScene, change: Partial<RolloutRow> = {}): RolloutRow => {
  const { head } = rollouts[scene];
  return {
    ...knownRow,
    namespace: 'pos',
    name,
    state: head.headline.state,
    status: head.headline.badge,
    why: head.headline.evidence,
    version: head.version,
    strategy: head.strategy,
    nodes: { ...head.phases, eligible: head.eligible, online: head.online },
    budget: head.budget,
    changedBy: 'argocd-controller',
    startedAt: at(-6),
    ...(scene === 'approval' && { stages: { passed: 1, total: 3, open: 'cities' } }),
    ...(scene === 'running' && { estimatedFinishAt: at(16) }),
    ...change,
  };
};

/** One rollout in each state. */
export const rows: readonly RolloutRow[] = [
  ...rolloutScenes.map((scene) => rowOf(scene === 'halted' ? 'payment-terminal' : `${scene}-agent`, scene)),
  rowOf('a-name-as-long-as-the-names-of-daemonsets-may-be-in-a-cluster-63', 'running', {
    namespace: 'a-namespace-with-a-name-that-is-as-long-as-names-may-be-here-63',
  }),
];

/** A fleet that shows this rollout, with the labels that its nodes are grouped by. */
export const fleetOf = (scene: RolloutScene): FakeFleet => {
  const { head, nodes } = rollouts[scene];
  return {
    rows,
    rollout: { type: 'rollout', head, nodes },
    labelsOf: (key) =>
      key === undefined
        ? { site: SITES }
        : Object.fromEntries(nodes.map(([name]) => [name, name.replace(/-\d+$/, '')])),
  };
};
