// What Flux, Helm 4, Argo CD, Rancher Fleet, Karmada and kubectl wait say of real rollouts: judged by the tools' own code, on a
// real control plane.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { type Case, type CaseKind, runSuite, section } from '../conformance/kit/index.ts';
import { startCluster } from './index.ts';
import { type Health, judge } from './judges/judges.ts';
import { states, type Truth } from './judges/states.ts';

const columns = [
  'dro: kstatus',
  'expressions',
  'Argo CD',
  'script',
  'wait Ready',
  'wait Complete',
  'Fleet',
  'Karmada shipped',
  'ds: kstatus',
  'expressions',
  'Argo CD',
  'script',
  'wait Ready',
  'Fleet',
  'Karmada',
  'shipped',
] as const;

const rolloutName = { native: 'app', advanced: 'app.apps.kruise.io' } as const;
const resource = { native: 'daemonsets.apps', advanced: 'daemonsets.apps.kruise.io' } as const;

const word = (health: Health | undefined): string => health?.status ?? '-';

/** Whether `kubectl wait` would return at once. */
const waits = async (c: Case, condition: string, object: string): Promise<string> => {
  try {
    await c.kubectl(['wait', `--for=condition=${condition}`, object, '--timeout=0s']);
    return 'ends';
  } catch {
    return 'waits';
  }
};

const row = async (c: Case, kind: CaseKind): Promise<string[]> => {
  const [daemonSet, rollout] = await Promise.all([c.daemonSet(), c.rollout()]);
  assert.ok(rollout);
  // Karmada has a rule of its own only for the older version of Advanced DaemonSets, which the API server serves alike.
  const older = { ...daemonSet, ...(kind === 'advanced' && { apiVersion: 'apps.kruise.io/v1alpha1' }) };
  const [ofRollout, ofDaemonSet, ofOlder] = await judge([rollout, daemonSet, older]);
  assert.ok(ofRollout && ofDaemonSet && ofOlder);
  const name = `daemonrollouts.edgeset.io/${rolloutName[kind]}`;
  return [
    ofRollout.kstatus,
    ofRollout.expressions ?? '-',
    word(ofRollout.builtIn),
    word(ofRollout.script),
    await waits(c, 'Ready', name),
    await waits(c, 'Complete', name),
    ofRollout.fleet,
    ofRollout.karmadaShipped,
    ofDaemonSet.kstatus,
    ofDaemonSet.expressions ?? '-',
    word(ofDaemonSet.bundled ?? ofDaemonSet.builtIn),
    word(ofDaemonSet.script),
    await waits(c, 'Ready', `${resource[kind]}/app`),
    ofDaemonSet.fleet,
    ofOlder.karmada,
    ofDaemonSet.karmadaShipped,
  ];
};

const done = 'Current Current none Healthy ends ends Ready Healthy';
const atRest = 'Current Current none Healthy ends waits Ready Healthy';
const busy = 'InProgress InProgress none Progressing waits waits Transitioning Unhealthy';
const paused = 'InProgress InProgress none Suspended waits waits Transitioning Unhealthy';
const stuck = 'Failed Failed none Degraded waits waits Error Unhealthy';

/**
 * By state: the verdicts on the DaemonRollout, and on the DaemonSet. Where they differ from what we ship says, a built-in rule
 * cannot know: kstatus compares the numbers of a native DaemonSet, and for Argo CD a native one with OnDelete is always Healthy.
 * Argo CD's script for OpenKruise goes by the numbers, and ends in an error for a partition in percent.
 * Nothing in a DaemonRollout can say that its manager is down; docs/how-to/gitops.md has this table.
 */
const expected: Readonly<Record<CaseKind, Readonly<Record<string, string>>>> = {
  native: {
    complete: `${done} Current Current Healthy Healthy ends Ready Healthy Healthy`,
    'complete, a node offline': `${done} Current Current Healthy Healthy ends Ready Healthy Healthy`,
    'complete, a tolerated node offline': `${done} InProgress Current Healthy Healthy ends Transitioning Unhealthy Healthy`,
    'in progress': `${busy} InProgress InProgress Healthy Progressing waits Transitioning Unhealthy Unhealthy`,
    'held at a partition': `${atRest} InProgress Current Healthy Healthy ends Transitioning Unhealthy Healthy`,
    'waiting for owners': `${atRest} InProgress Current Healthy Healthy ends Transitioning Unhealthy Healthy`,
    paused: `${paused} InProgress InProgress Healthy Suspended waits Transitioning Unhealthy Unhealthy`,
    halted: `${stuck} Failed Failed Healthy Degraded waits Error Unhealthy Unhealthy`,
    'invalid policy': `${stuck} Failed Failed Healthy Degraded waits Error Healthy Unhealthy`,
    'manager down, new template': `${done} InProgress InProgress Healthy Progressing ends Transitioning Unhealthy Unhealthy`,
    'opted out, was halted':
      'Current Current none Healthy waits waits Ready Healthy InProgress InProgress Healthy Healthy waits Transitioning Unhealthy Unhealthy',
  },
  advanced: {
    complete: `${done} Current Current Healthy Healthy ends Ready Healthy Healthy`,
    'complete, a node offline': `${done} Current Current Healthy Healthy ends Ready Healthy Healthy`,
    'complete, a tolerated node offline': `${done} Current Current Progressing Healthy ends Ready Unhealthy Healthy`,
    'in progress': `${busy} InProgress InProgress Progressing Progressing waits Transitioning Unhealthy Unhealthy`,
    'held at a partition': `${atRest} Current Current error Healthy ends Ready Unhealthy Healthy`,
    'waiting for owners': `${atRest} Current Current Progressing Healthy ends Ready Unhealthy Healthy`,
    OnDelete: `${atRest} Current Current Progressing Healthy ends Ready Unhealthy Healthy`,
    paused: `${paused} InProgress InProgress Suspended Suspended waits Transitioning Unhealthy Unhealthy`,
    halted: `${stuck} Failed Failed Progressing Degraded waits Error Unhealthy Unhealthy`,
    'invalid policy': `${stuck} Failed Failed Healthy Degraded waits Error Healthy Unhealthy`,
    'manager down, new template': `${done} InProgress InProgress Progressing Progressing waits Transitioning Unhealthy Unhealthy`,
  },
};

const rows: { title: string; truth: Truth; cells: string[] }[] = [];

const rulesOf = (kind: CaseKind) =>
  section(
    `GitOps, ${kind}`,
    (rule) => {
      for (const { name, only, truth, arrange } of states) {
        if (only && only !== kind) continue;
        rule(name, async (c) => {
          await arrange(c, kind);
          const wanted = expected[kind][name]?.split(' ') ?? [];
          let found: string[] = [];
          try {
            await c.until(
              'every tool says so',
              async () => {
                found = await row(c, kind);
                assert.deepEqual(found, wanted);
                return true;
              },
              90_000,
              1_000,
            );
          } finally {
            rows.push({ title: `${kind}: ${name}`, truth, cells: found });
          }
        });
      }
    },
    { kind },
  );

/** What each tool should say: its own answer, or none where it has no rule. `kubectl wait` may wait for either reason. */
const truths: Readonly<Record<Truth, RegExp>> = {
  done: /^(Current|Healthy|Ready|ends|none|-)$/,
  'at rest': /^(Current|Healthy|Ready|ends|waits|none|-)$/,
  // Karmada knows no more than whether an object is healthy.
  busy: /^(InProgress|Progressing|Transitioning|Unhealthy|waits|none|-)$/,
  paused: /^(InProgress|Suspended|Transitioning|Unhealthy|waits|none|-)$/,
  stuck: /^(Failed|Degraded|Error|Unhealthy|waits|none|-)$/,
  // The other judges of the DaemonSet go by its numbers, as they do for every DaemonSet.
  'opted out': /./,
};

after(() => {
  const answers = rows.flatMap(({ truth, cells }) => cells.map((cell) => truths[truth].test(cell)));
  if (answers.length === 0) return;
  const marked = rows.map(({ title, truth, cells }) => [
    title,
    ...cells.map((cell) => (truths[truth].test(cell) ? cell : `${cell} (false)`)),
  ]);
  const table = [['state', ...columns], ...marked.toSorted(([a = ''], [b = '']) => a.localeCompare(b))];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0))) ?? [];
  for (const cells of table) console.log(cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  console.log(`${answers.filter(Boolean).length} of ${answers.length} answers are true`);
});

it('the script for native DaemonSets says of those that did not opt in what Argo CD says', async () => {
  const numbers = [0, 2, 3];
  const objects = ['OnDelete', 'RollingUpdate'].flatMap((type) =>
    [1, 2].flatMap((observedGeneration) =>
      numbers.flatMap((updatedNumberScheduled) =>
        numbers.map((numberAvailable) => ({
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name: 'app', namespace: 'shop', generation: 2 },
          spec: { updateStrategy: { type } },
          status: { observedGeneration, desiredNumberScheduled: 3, updatedNumberScheduled, numberAvailable },
        })),
      ),
    ),
  );
  const fresh = objects.slice(0, 1).map((object) => ({ ...object, status: undefined }));
  for (const { builtIn, script } of await judge([...objects, ...fresh]))
    assert.deepEqual({ message: '', ...script }, { message: '', ...builtIn });
});

it("the script for Advanced DaemonSets reads the numbers of OpenKruise's manager, also with a percentage", async () => {
  const object = (updated: number, available: number, rollingUpdate: object) => ({
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'shop', generation: 2 },
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: 5,
      updatedNumberScheduled: updated,
      numberAvailable: available,
    },
  });
  const verdicts = await judge([
    object(5, 5, {}),
    object(4, 5, {}),
    object(5, 4, {}),
    object(2, 5, { partition: '50%' }),
    object(1, 5, { partition: '50%' }),
    object(3, 5, { partition: 2 }),
    object(1, 5, { partition: 2, paused: true }),
  ]);
  assert.deepEqual(
    verdicts.map(({ script }) => word(script)),
    ['Healthy', 'Progressing', 'Progressing', 'Healthy', 'Progressing', 'Healthy', 'Suspended'],
  );
});

it("Argo CD's bundled script for Advanced DaemonSets knows a complete and a paused one, and not a percentage", async () => {
  const fields = { rollingUpdateType: 'Standard', partition: 0, paused: false };
  const object = (updated: number, updateStrategy: object) => ({
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'shop', generation: 2 },
    spec: { updateStrategy },
    status: { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: updated, numberAvailable: 3 },
  });
  const rolling = (updated: number, more: object = {}) =>
    object(updated, { type: 'RollingUpdate', rollingUpdate: { ...fields, ...more } });
  const verdicts = await judge([
    rolling(3),
    rolling(1),
    rolling(1, { paused: true }),
    // What the default of the CRD spares it.
    object(3, { type: 'OnDelete' }),
    // Why deploy/gitops has its own script.
    rolling(2, { partition: '50%' }),
    rolling(1, { partition: 2 }),
  ]);
  assert.deepEqual(
    verdicts.map(({ bundled }) => word(bundled)),
    ['Healthy', 'Progressing', 'Suspended', 'error', 'error', 'Progressing'],
  );
});

runSuite('what other tools say', startCluster, [...rulesOf('native'), ...rulesOf('advanced')]);
