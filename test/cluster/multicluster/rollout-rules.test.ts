import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type ClusterStatus,
  type Condition,
  type Decision,
  decideRollout,
  type Status,
  type Strategy,
  statusOf,
  type WorkConditions,
} from '../../../bench/clusters/rollout-rules.ts';
import { createRandom } from '../../../src/runtime/index.ts';
import { ask } from '../judges/judges.ts';
import { findRolloutRules } from './rollout-rules.ts';

const SECOND = 1000;
const NOW = 1_000 * SECOND;

interface Question {
  strategy: Strategy;
  groups: string[][];
  existing: ClusterStatus[];
}

interface Work {
  generation: number;
  conditions: WorkConditions;
}

const random = createRandom(38);
const below = (count: number): number => Math.floor(random() * count);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;

const statuses: readonly Status[] = ['ToApply', 'Progressing', 'Succeeded', 'Failed', 'TimeOut', 'Skip'];

/** Times of the questions meet now, the soak and the deadline exactly, too. */
const aStatus = (cluster: string): ClusterStatus => ({
  cluster,
  status: pick(statuses),
  since: pick([undefined, ...[0, 1, 5, 10, 11, 30, 60].map((seconds) => NOW - seconds * SECOND)]),
});

/** A few clusters in a few groups, some of them empty, some clusters without a work, and some works without a group. */
const aQuestion = (): Question => {
  const groups: string[][] = Array.from({ length: 1 + below(3) }, () => []);
  const names = 'abcdefgh'.slice(0, 1 + below(8)).split('');
  for (const name of names) if (random() < 0.9) pick(groups).push(name);
  return {
    strategy: {
      soakMs: pick([0, 10 * SECOND, 60 * SECOND]),
      deadlineMs: pick([Number.POSITIVE_INFINITY, 0, 5 * SECOND, 30 * SECOND]),
      maxFailures: pick([0, 0, 1, 2, '0%', '10%', '34%', '50%', '100%', '150%']),
    },
    groups,
    existing: names.filter(() => random() < 0.7).map(aStatus),
  };
};

const conditions: readonly (Condition | undefined)[] = [
  undefined,
  ...(['True', 'False', 'Unknown'] as const).flatMap((status) =>
    [1, 2].map((observedGeneration) => ({ status, observedGeneration, since: NOW })),
  ),
];
const works: readonly Work[] = conditions.flatMap((applied) =>
  conditions.flatMap((progressing, p) =>
    conditions.map((degraded, d) => ({
      generation: 2,
      conditions: {
        applied,
        progressing: progressing && { ...progressing, since: NOW + p * SECOND },
        degraded: degraded && { ...degraded, since: NOW + (10 + d) * SECOND },
      },
    })),
  ),
);

const asDuration = (ms: number): string => (ms === Number.POSITIVE_INFINITY ? 'None' : `${ms / SECOND}s`);

const askedOf = ({ strategy: { soakMs, deadlineMs, maxFailures }, groups, existing }: Question): object => ({
  now: NOW,
  strategy: {
    type: 'ProgressivePerGroup',
    progressivePerGroup: {
      minSuccessTime: asDuration(soakMs),
      progressDeadline: asDuration(deadlineMs),
      maxFailures,
    },
  },
  groups,
  statuses: existing,
});

const asManifestWork = ({ generation, conditions: { applied, progressing, degraded } }: Work): object => ({
  metadata: { namespace: 'member', generation },
  status: {
    conditions: Object.entries({ Applied: applied, Progressing: progressing, Degraded: degraded }).flatMap(
      ([type, condition]) => {
        if (!condition) return [];
        const { status, observedGeneration, since } = condition;
        return [{ type, status, observedGeneration, lastTransitionTime: new Date(since).toISOString() }];
      },
    ),
  },
});

/** Without what is undefined, and by name: the order of clusters is that of a map. */
const plain = (decision: Decision): Decision => {
  const byName = (a: ClusterStatus, b: ClusterStatus): number => (a.cluster < b.cluster ? -1 : 1);
  const { rollout, timeOut, removed } = decision;
  return JSON.parse(
    JSON.stringify({
      ...decision,
      rollout: rollout.toSorted(byName),
      timeOut: timeOut.toSorted(byName),
      removed: removed.toSorted(byName),
    }),
  ) as Decision;
};

describe("the re-stated rules and Open Cluster Management's own", () => {
  const questions = Array.from({ length: 5_000 }, aQuestion);
  let real: { rollouts: Decision[]; works: ClusterStatus[] };

  before(async () => {
    const { rules } = await findRolloutRules();
    real = await ask(rules, { rollouts: questions.map(askedOf), works: works.map(asManifestWork) });
  });

  test('give the same clusters the work', () => {
    for (const [index, question] of questions.entries()) {
      const { strategy, groups, existing } = question;
      const present = new Map(existing.map((each) => [each.cluster, each]));
      const ours = plain(decideRollout(strategy, groups, present, NOW));
      assert.deepEqual(ours, plain(real.rollouts[index] as Decision), JSON.stringify(question));
    }
  });

  test('were asked about rollouts that go on, wait, soak, time out and stop', () => {
    const count = (holds: (decision: Decision) => boolean): number => real.rollouts.filter(holds).length;
    const counts = {
      goesOn: count(({ rollout }) => rollout.some(({ status }) => status === 'ToApply')),
      waits: count(({ rollout }) => rollout.some(({ status }) => status === 'Progressing')),
      soaks: count(({ rollout }) => rollout.some(({ status }) => status === 'Succeeded')),
      timesOut: count(({ timeOut }) => timeOut.length > 0),
      removes: count(({ removed }) => removed.length > 0),
      stops: count(({ breach }) => breach),
      rechecks: count(({ recheckAfter }) => recheckAfter !== undefined),
    };
    for (const [what, often] of Object.entries(counts)) assert.ok(often > 250, `${what}: ${often} times`);
  });

  test("derive the same status from a ManifestWork's conditions", () => {
    for (const [index, work] of works.entries()) {
      const { status, since } = statusOf(work.generation, work.conditions);
      const ours = { cluster: 'member', status, ...(since !== undefined && { since }) };
      assert.deepEqual(ours, real.works[index], JSON.stringify(work));
    }
  });
});
