import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Case } from './case.ts';

const FINALIZER = 'example.com/hold';

/** A pod that has ended and is being deleted, and that a finalizer holds, is no pod of its node: of either kind of DaemonSet. */
export const deletedTerminalPod = async (c: Case): Promise<void> => {
  const [first = ''] = c.nodes;
  await c.rolledOut();
  const held = await c.podOn(first);
  const path = `/api/v1/namespaces/${c.namespace}/pods/${held.name}`;
  await c.api.merge(path, { metadata: { finalizers: [FINALIZER] } });
  await c.api.remove(path);
  await c.until('it is replaced', async () => (await c.running('app:v1')).includes(first));
  const { status } = await c.api.get<Pod>(path);
  assert.match(status?.phase ?? '', /^(Succeeded|Failed)$/);

  await c.setImage('app:v2');
  await c.untilRunning('app:v2');
  await c.untilCondition('Complete');
  assert.ok(
    (await c.pods()).some(({ uid }) => uid === held.uid),
    'the finalizer still holds it',
  );
  await c.api.merge(path, { metadata: { finalizers: null } });
  await c.until('it is gone', async () => (await c.pods()).every(({ uid }) => uid !== held.uid));
};
