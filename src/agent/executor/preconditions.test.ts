import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../words/index.ts';
import { isTargetOf } from './preconditions.ts';

const daemonSet = (generation: number, observedGeneration: number): DaemonSet => ({
  metadata: { generation },
  status: {
    observedGeneration,
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    numberMisscheduled: 0,
    numberReady: 1,
  },
});
const rollout = (status: DaemonRolloutStatus): DaemonRollout => ({
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'DaemonRollout',
  metadata: {},
  status,
});
const target = { revision: 'app-r2', hash: 'r2', number: 2 };
const condition = (reason: string) => ({
  type: 'Reconciling',
  status: 'True',
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

describe('isTargetOf', () => {
  const cases: [what: string, is: boolean, DaemonSet, DaemonRollout | undefined][] = [
    ['is known of the DaemonSet as it is', true, daemonSet(2, 2), rollout({ daemonSetGeneration: 2, target })],
    ['is not known of an older generation', false, daemonSet(3, 3), rollout({ daemonSetGeneration: 2, target })],
    [
      'is not known of a template without a revision',
      false,
      daemonSet(2, 1),
      rollout({ daemonSetGeneration: 2, target }),
    ],
    [
      'is not known while the manager says so',
      false,
      daemonSet(2, 2),
      rollout({ daemonSetGeneration: 2, target, conditions: [condition('TemplateNotObserved')] }),
    ],
    [
      'is not known while the manager cannot compute the rollout',
      false,
      daemonSet(2, 2),
      rollout({ daemonSetGeneration: 2, target, conditions: [condition('InternalError')] }),
    ],
    [
      'is another one',
      false,
      daemonSet(2, 2),
      rollout({ daemonSetGeneration: 2, target: { ...target, hash: 'r3' }, conditions: [condition('OwnerDecides')] }),
    ],
    ['is not known without a word of it', false, daemonSet(2, 2), undefined],
  ];
  for (const [what, is, given, told] of cases) it(what, () => assert.equal(isTargetOf(given, told, 'r2'), is));
});
