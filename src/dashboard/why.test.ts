import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutStatus } from '../words/index.ts';
import { whyOf } from './why.ts';

type Condition = NonNullable<DaemonRolloutStatus['conditions']>[number];

const condition = (type: string, reason: string, message: string): Condition => ({
  type,
  reason,
  message,
  status: 'True',
  observedGeneration: 1,
  lastTransitionTime: '2030-01-01T00:00:00Z',
});

const revision = (version: string) => ({ revision: 'r', hash: 'h', number: 1, images: [`registry/pos:${version}`] });

describe('the line of a rollout in the list', () => {
  const halted = [
    condition('Stalled', 'Halted', 'The rollout is halted: the target revision failed on 3 nodes: a, b, c.'),
    condition('Halted', 'Failures', ''),
  ];
  const history: NonNullable<DaemonRolloutStatus['history']> = [
    { rollout: 2, result: 'Halted', from: revision('2.0'), to: revision('2.1'), nodes: 3, failures: 3 },
  ];
  const causes = (...counts: [string, number][]): NonNullable<DaemonRolloutStatus['causes']> =>
    counts.map(([cause, count]) => ({ phase: 'failed', cause, count }));

  it('says what the version does where it failed', () => {
    const why = (...counts: [string, number][]): string =>
      whyOf({ conditions: halted, history, causes: causes(['available', 9], ...counts) });
    assert.equal(why(['crash-loop', 3]), 'Version 2.1 crashes on start on 3 nodes.');
    assert.equal(why(['crash-loop', 2], ['image-pull', 1]), 'Version 2.1 failed on 3 nodes.');
    assert.equal(why(['lost', 1]), 'Nodes went offline after they got version 2.1: 1 node.');
    assert.match(why(), /^The rollout is halted/, 'nodes that work again explain nothing');
  });

  it('is the condition where it is not failures that halted it', () => {
    const [stalled] = halted;
    assert.ok(stalled);
    const conditions = [stalled, condition('Halted', 'CheckFailed', '')];
    assert.match(whyOf({ conditions, history, causes: causes(['crash-loop', 1]) }), /^The rollout is halted/);
  });

  it('leaves out what the state says already', () => {
    const cure = 'apps.openyurt.io/max-unavailable "ten" is not a number: set 3 or 10%.';
    assert.equal(
      whyOf({ conditions: [condition('Stalled', 'InvalidPolicy', `The rollout policy is not valid. ${cure}`)] }),
      cure,
    );
    const run = 'Run "kubectl edgeset set ds/web --max-unavailable VALUE -n shop".';
    assert.equal(
      whyOf({
        conditions: [condition('Paused', 'ZeroBudget', `The budget is zero, so nothing is updated. ${run}`)],
      }),
      run,
    );
    assert.equal(whyOf({ conditions: [] }), '');
  });
});
