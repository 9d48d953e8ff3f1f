import assert from 'node:assert/strict';
import { type Case, section, strategyKey } from '../kit/index.ts';
import { kinds } from '../kit/kinds.ts';
import { createPlan, decide, FRESH_CRD, label, planKey, ring, wide } from '../kit/plans.ts';

/** Resolves once the condition Ready of the DaemonRollout has this reason. */
const untilReason = (c: Case, reason: string): Promise<unknown> =>
  c.until(`the reason of Ready is ${reason}`, async () => {
    const found = (await c.condition('Ready'))?.reason;
    if (found === reason) return true;
    throw new Error(`it is ${found}`);
  });

export const reasons = [
  ...section(
    'Reasons',
    (rule) => {
      rule(
        'say where a rollout stands, from its first stage to the end of its management',
        async (c) => {
          await label(c, { ring: 'lab' }, c.nodes.slice(0, 1));
          await createPlan(c, { stages: [ring('lab', { soak: '1h', timeout: '20s' })] });
          await c.rolledOut({ annotations: wide });
          await untilReason(c, 'AllOnlineNodesUpdated');
          await c.setImage('app:v2');
          await untilReason(c, 'StageSoaking');
          await untilReason(c, 'StageTimedOut');
          await c.cluster.behave(c.nodes, { startMs: 4_000 });
          await decide(c, 'lab', 'Promote');
          await untilReason(c, 'InProgress');
          await c.untilRunning('app:v2');
          await untilReason(c, 'AllOnlineNodesUpdated');
          await c.annotate({ [strategyKey]: null, [planKey]: null });
          await c.until('it is not managed', async () => (await c.condition('Complete'))?.reason === 'NotManaged');
        },
        { budget: 3 },
      );
    },
    { expected: FRESH_CRD },
  ),
  ...section(
    'Reasons',
    (rule) => {
      rule('say where a rollout of an Advanced DaemonSet stands, on itself and on its DaemonRollout', async (c) => {
        const untilBoth = (own: string, ofRollout: string = own): Promise<unknown> =>
          c.until(`both say ${own}`, async () => {
            const ready = ({ conditions = [] }: { conditions?: { type: string; reason?: string }[] } = {}) =>
              conditions.find(({ type }) => type === 'Ready')?.reason;
            const found = [ready((await c.advanced()).status), (await c.condition('Ready'))?.reason];
            if (found[0] === own && found[1] === ofRollout) return true;
            throw new Error(`they say ${found.join()}`);
          });
        await c.rolledOut({ rollingUpdate: { partition: 1 } });
        await untilBoth('Complete', 'AllOnlineNodesUpdated');
        await c.setImage('app:v2');
        await untilBoth('LeftOnOldRevision');
        await c.change({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
        await untilBoth('OnDelete');
        await c.change({
          spec: { updateStrategy: { type: 'RollingUpdate' } },
          metadata: { annotations: { [strategyKey]: 'ota' } },
        });
        await untilBoth('OwnerDecides');
        await c.annotate({ [strategyKey]: null, 'edgeset.io/failure-threshold': 'many' });
        await untilBoth('InvalidPolicy');
        await c.annotate({ 'edgeset.io/failure-threshold': null });
        await c.untilRunning('app:v2');
      });
    },
    { kind: 'advanced' },
  ),
  ...(['native', 'advanced'] as const).flatMap((kind) =>
    section(
      'Reasons',
      (rule) => {
        rule('say that a DaemonSet is being deleted for as long as a finalizer holds it', async (c) => {
          const path = `${kinds[kind].path(c.namespace)}/app`;
          await c.rolledOut();
          await c.api.merge(path, { metadata: { finalizers: ['example.com/held'] } });
          await c.api.remove(path);
          await c.until('it is not complete', async () => (await c.condition('Complete'))?.reason === 'Deleted');
          assert.equal((await c.condition('Complete'))?.status, 'Unknown');
          assert.equal((await c.status()).summary, 'Being deleted');
          await c.api.merge(path, { metadata: { finalizers: null } });
          await c.until('it is collected', async () => (await c.rollout()) === undefined);
        });
      },
      { kind },
    ),
  ),
];
