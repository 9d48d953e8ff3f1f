import type { DaemonSetPlan, Hook, Strategy } from '../plan/plan.ts';
import { at, release, type Scenario, type Shape, scenario } from './scenario.ts';

const advanced = (strategy: Strategy): Shape => ({ kind: 'advanced', strategy });

const byLabel: Hook = { by: 'label', markPodNotReady: true, drainMs: 1_500 };
const byFinalizer: Hook = { by: 'finalizer', markPodNotReady: false, drainMs: 1_500 };

const beside: DaemonSetPlan = {
  kind: 'advanced',
  strategy: 'recreate',
  limit: '1',
  settleSeconds: 1,
  minReadySeconds: 0,
};

/** What happens to DaemonSets beside their rollouts: hooks, pulls ahead, partitions, and other DaemonSets. */
export const lifecycleScenarios: readonly Scenario[] = [
  scenario('hook: by a label', { ...advanced('recreate'), hook: byLabel, nodes: 2 }, release(10, 'app:v1')),
  scenario('hook: by a finalizer', { ...advanced('recreate'), hook: byFinalizer, nodes: 2 }, release(10, 'app:v1')),
  scenario('hook: on a surge', { ...advanced('surge'), hook: byLabel, nodes: 2 }, release(10, 'app:v1')),
  scenario(
    'hook: a user’s controller that dies, and a wait that ends',
    { ...advanced('recreate'), hook: { ...byLabel, timeoutSeconds: 5 }, nodes: 2 },
    at(9, { do: 'drainer', ms: undefined }),
    release(10, 'app:v1'),
  ),
  scenario(
    'hook: there and back again while it waits',
    { ...advanced('recreate'), hook: { ...byLabel, drainMs: 8_000 }, nodes: 2 },
    release(10, 'app:v1'),
    release(13, 'app:v0'),
  ),
  scenario(
    'hook: made again under its name',
    { ...advanced('recreate'), hook: byLabel, nodes: 2 },
    at(10, { do: 'recreate-set' }),
    release(30, 'app:v2'),
  ),
  scenario(
    'hook: taken away while a pod waits',
    { ...advanced('recreate'), hook: { ...byLabel, drainMs: 8_000 }, nodes: 2 },
    release(10, 'app:v1'),
    at(13, { do: 'hook', on: false }),
  ),
  scenario(
    'hook: a node that stops being eligible, and is again',
    { ...advanced('recreate'), hook: { ...byLabel, drainMs: 8_000 }, nodes: 2 },
    at(10, { do: 'label', node: 'node-1', role: 'other' }),
    at(13, { do: 'label', node: 'node-1', role: 'edge' }),
    release(30, 'app:v1'),
  ),
  scenario('pulls ahead: native, required', { predownload: 'required', nodes: 2 }, release(10, 'app:v1')),
  scenario(
    'pulls ahead: in place, one at a time',
    { ...advanced('in-place'), predownload: 'required', parallelism: '1', nodes: 2 },
    release(10, 'app:v1'),
  ),
  scenario(
    'pulls ahead: slow, preferred, and not waited for',
    { ...advanced('recreate'), predownload: 'preferred', pullSeconds: 5, nodes: 2 },
    at(9, { do: 'slow-pulls', node: 'node-1', ms: 20_000 }),
    release(10, 'app:v1'),
    at(60, { do: 'slow-pulls', node: 'node-1', ms: undefined }),
  ),
  scenario(
    'pulls ahead: in vain, and the successor',
    { predownload: 'required', pullSeconds: 10, nodes: 2 },
    release(10, 'app:v1--not-pullable'),
    release(20, 'app:v2'),
  ),
  scenario(
    'progressive creation: step by step, and a rollout in between',
    { ...advanced('recreate'), progressive: true, partition: 3, nodes: 4 },
    at(8, { do: 'partition', nodes: 2 }),
    at(12, { do: 'partition', nodes: '25%' }),
    release(16, 'app:v1'),
    at(24, { do: 'partition', nodes: 0 }),
  ),
  scenario(
    'partition: lowered step by step, and raised once',
    { ...advanced('recreate'), limit: '2', partition: 4, nodes: 4 },
    release(10, 'app:v1'),
    at(12, { do: 'partition', nodes: '75%' }),
    at(20, { do: 'partition', nodes: 1 }),
    at(21, { do: 'partition', nodes: 3 }),
    at(30, { do: 'partition', nodes: 0 }),
  ),
  scenario(
    'selector: one wave after the other',
    { ...advanced('recreate'), nodes: 4 },
    at(9, { do: 'select', wave: '1' }),
    release(10, 'app:v1'),
    at(20, { do: 'select', wave: undefined }),
  ),
  scenario(
    'OnDelete, and then RollingUpdate again',
    { ...advanced('recreate'), nodes: 2 },
    at(9, { do: 'manual', manual: true }),
    release(10, 'app:v1'),
    at(12, { do: 'delete-pod', node: 'node-0' }),
    at(20, { do: 'manual', manual: false }),
  ),
  scenario(
    'mixed: a native and an Advanced one of the same name',
    { nodes: 2, others: [{ ...beside, strategy: 'surge' }] },
    release(10, 'app:v1'),
    at(10, { do: 'release', image: 'app:v1', set: 1 }),
  ),
  scenario(
    'mixed: a hook and pulls ahead side by side',
    { ...advanced('recreate'), hook: byLabel, nodes: 2, others: [{ ...beside, predownload: 'required' }] },
    release(10, 'app:v1'),
    at(10, { do: 'release', image: 'app:v1', set: 1 }),
  ),
];
