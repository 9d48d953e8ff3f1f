import type { PlannedStep, Strategy } from '../plan/plan.ts';
import type { OwnerRequest } from '../processes/owner.ts';
import { at, release, type Scenario, type Shape, scenario } from './scenario.ts';

const agrees = (seconds: number, ...nodes: number[]): PlannedStep[] =>
  nodes.map((node) => at(seconds, { do: 'auto-approve', node: `node-${node}`, agrees: true }));
const asks = (seconds: number, node: number, ask: OwnerRequest, times = 1): PlannedStep =>
  at(seconds, { do: 'owner', node: `node-${node}`, ask, times });

const native: Shape = { model: 'ota', nodes: 2 };
const advanced = (strategy: Strategy): Shape => ({ ...native, kind: 'advanced', strategy });

/** Requests of owners, for both kinds of DaemonSets. */
const common = (title: string, shape: Shape): Scenario[] => [
  scenario(`${title}: all agree`, shape, release(10, 'app:v1'), ...agrees(12, 0, 1)),
  scenario(
    `${title}: one agrees, and another version comes`,
    shape,
    release(10, 'app:v1'),
    asks(12, 0, { ask: 'approve' }),
    release(12.3, 'app:v2'),
    asks(14, 0, { ask: 'approve-older' }),
  ),
];

/** Small histories of DaemonSets whose owners decide. */
export const ownersScenarios: readonly Scenario[] = [
  ...common('owners', native),
  scenario(
    'owners: asked for thrice at once, and again when it is done',
    native,
    release(10, 'app:v1'),
    asks(12, 0, { ask: 'upgrade' }, 3),
    asks(16, 0, { ask: 'again' }, 2),
  ),
  scenario(
    'owners: decided on while the device is offline',
    native,
    release(10, 'app:v1'),
    at(11, { do: 'agent', node: 'node-0', how: 'cut', forMs: 8_000 }),
    asks(12, 0, { ask: 'queue' }),
    at(11, { do: 'agent', node: 'node-1', how: 'cut', forMs: 40_000 }),
    asks(45, 1, { ask: 'approve' }),
  ),
  scenario(
    'owners: one says no, and then yes',
    native,
    release(10, 'app:v1'),
    asks(12, 0, { ask: 'reject' }),
    asks(14, 0, { ask: 'upgrade' }),
  ),
  scenario(
    'owners: put off, until a deadline acts for them',
    native,
    release(10, 'app:v1'),
    asks(12, 0, { ask: 'postpone', ms: 600_000 }),
    at(13, { do: 'deadline', inMs: 5_000, spreadSeconds: 4 }),
  ),
  scenario(
    'owners: there and back again',
    native,
    release(10, 'app:v1'),
    asks(12, 0, { ask: 'approve' }),
    release(12.3, 'app:v0'),
    ...agrees(20, 0, 1),
  ),
  ...common('owners, recreate', advanced('recreate')),
  ...common('owners, in place', advanced('in-place')),
  ...common('owners, surge', advanced('surge')),
];
