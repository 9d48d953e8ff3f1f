import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRollout } from '../../../src/words/index.ts';
import { askedOf } from '../../invariants/index.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import type { Case, Shape } from '../kit/index.ts';

/** A kind of write that a manager makes to bring a node to another revision. */
export interface Write {
  what: string;
  is: (call: AuditRecord) => boolean;
}

/** A way of updating, two nodes at a time, with the kinds of its writes in their order. */
export interface UpdateMethod {
  name: string;
  shape: Shape;
  writes: readonly Write[];
}

const succeeded = ({ code }: AuditRecord): boolean => code >= 200 && code < 300;

const onPods = (
  what: string,
  verb: AuditRecord['verb'],
  resource: string,
  is: (sent: Partial<Pod>) => boolean,
): Write => ({
  what,
  is: (call) =>
    call.group === '' &&
    call.resource === resource &&
    call.verb === verb &&
    succeeded(call) &&
    is(askedOf(call.request) ?? {}),
});

const setsGate = (status: string) => (sent: Partial<Pod>) =>
  sent.status?.conditions?.some(
    (condition) =>
      condition.type === 'InPlaceUpdateReady' && condition.status === status && condition.reason !== 'Created',
  ) ?? false;

export const reservation: Write = {
  what: 'the reservation of slots',
  is: ({ resource, response }) => {
    const { status } = (response ?? {}) as DaemonRollout;
    return (
      resource === 'daemonrollouts/status' && (status?.reservations?.some(({ carriedOut }) => !carriedOut) ?? false)
    );
  },
};

const removal = onPods('the delete of a pod', 'delete', 'pods', () => true);
const creation = onPods('the creation of a pod', 'create', 'pods', () => true);
const claim = onPods(
  'the claim of an old pod',
  'patch',
  'pods',
  ({ metadata }) => metadata?.annotations?.['edgeset.io/fence'] !== undefined,
);
const change = onPods(
  'the change of a pod',
  'patch',
  'pods',
  ({ metadata }) => metadata?.labels?.['controller-revision-hash'] !== undefined,
);

const podAnnotations = { 'sim.edgeset.io/start-ms': '700' };

export const updateMethods: readonly UpdateMethod[] = [
  {
    name: 'by deleting pods',
    shape: { podAnnotations, rollingUpdate: { maxUnavailable: 2 } },
    writes: [reservation, removal, creation],
  },
  {
    name: 'in place',
    shape: { podAnnotations, rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 2 } },
    writes: [
      reservation,
      onPods('the shutting of a gate', 'patch', 'pods/status', setsGate('False')),
      change,
      onPods('the opening of a gate', 'patch', 'pods/status', setsGate('True')),
    ],
  },
  {
    name: 'by surging',
    shape: { podAnnotations, rollingUpdate: { maxSurge: 2 } },
    writes: [reservation, claim, creation, removal],
  },
];

/** How many such writes the case's managers have made. */
export const countOf = async (c: Case, { is }: Write): Promise<number> => (await c.calls()).filter(is).length;

/** Resolves as soon as one more has been made than there were. */
export const untilOneMore = (c: Case, write: Write, than: number): Promise<unknown> =>
  c.until(write.what, async () => (await countOf(c, write)) > than, 60_000, 10);

/** Every node is updated and in service with one pod, and none was acted on twice. */
export const untilDone = async (c: Case): Promise<void> => {
  await c.untilComplete('app:v2');
  await c.until('every node has one pod', async () => (await c.pods()).length === c.nodes.length);
  // Of a write whose caller was killed the log need not say what became of it.
  const acted = await c.updatedNodes();
  assert.deepEqual(acted, [...new Set(acted)], 'one act a node');
};
