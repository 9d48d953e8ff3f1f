import type { Strategy } from '../plan/plan.ts';
import { lifecycleScenarios } from './lifecycle.ts';
import { ownersScenarios } from './owners.ts';
import { at, release, type Scenario, type Shape, scenario } from './scenario.ts';

export type { Scenario } from './scenario.ts';

const advanced = (strategy: Strategy): Shape => ({ kind: 'advanced', strategy });

/** Scenarios for every kind and strategy. */
const common = (title: string, shape: Shape): Scenario[] => [
  scenario(`${title}: one rollout, one at a time`, shape, release(10, 'app:v1')),
  scenario(`${title}: two at a time`, { ...shape, nodes: 4, limit: '2' }, release(10, 'app:v1')),
  scenario(`${title}: another version midway`, shape, release(10, 'app:v1'), release(12, 'app:v2')),
  scenario(`${title}: there and back again`, shape, release(10, 'app:v1'), release(12, 'app:v0')),
  scenario(
    `${title}: a version that does not start, and its successor`,
    shape,
    release(10, 'app:v1--crash-loop'),
    release(40, 'app:v2'),
  ),
  scenario(
    `${title}: a node that goes offline midway`,
    shape,
    release(10, 'app:v1'),
    at(11, { do: 'offline', node: 'node-1' }),
    at(90, { do: 'online', node: 'node-1' }),
  ),
  scenario(
    `${title}: paused midway`,
    shape,
    release(10, 'app:v1'),
    at(11, { do: 'pause', paused: true }),
    at(20, { do: 'pause', paused: false }),
  ),
  scenario(
    `${title}: a canary by partition`,
    shape,
    at(9, { do: 'partition', nodes: 2 }),
    release(10, 'app:v1'),
    at(20, { do: 'partition', nodes: 0 }),
  ),
];

export const scenarios: readonly Scenario[] = [
  ...common('native', {}),
  scenario('native: pods that must be ready for a while', { minReadySeconds: 3 }, release(10, 'app:v1')),
  scenario(
    'native: made again under its name',
    {},
    release(10, 'app:v1'),
    at(12, { do: 'recreate-set' }),
    release(30, 'app:v2'),
  ),
  scenario(
    'native: a lower budget midway',
    { nodes: 4, limit: '3' },
    release(10, 'app:v1'),
    at(11, { do: 'budget', limit: '1' }),
  ),
  ...common('recreate', advanced('recreate')),
  ...common('in place', advanced('in-place')),
  ...common('surge', advanced('surge')),
  scenario(
    'advanced: from recreate to in place midway',
    advanced('recreate'),
    release(10, 'app:v1'),
    at(11, { do: 'strategy', strategy: 'in-place' }),
  ),
  scenario(
    'advanced: from surge to recreate midway',
    advanced('surge'),
    release(10, 'app:v1'),
    at(11, { do: 'strategy', strategy: 'recreate' }),
  ),
  ...lifecycleScenarios,
  ...ownersScenarios,
];
