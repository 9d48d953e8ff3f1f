import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { refusePods, section } from '../kit/index.ts';
import { longSelector } from '../native/warnings.ts';

const conditionsOf = (types: readonly string[], found: readonly { type: string; reason?: string }[] = []) =>
  found.filter(({ type }) => types.includes(type)).map(({ reason }) => reason);

export const warnings = section(
  'Warnings and spread',
  (rule) => {
    rule(
      'a finalizer that the API server refuses is reported, and no pod of a hook goes before it is there',
      async (c) => {
        const permit = await refusePods(c, {
          operation: 'UPDATE',
          of: { group: 'apps.kruise.io', version: 'v1beta1', resource: 'daemonsets' },
          expression: "!('edgeset.io/pre-delete' in object.metadata.?finalizers.orValue([]))",
          message: 'no finalizers here',
        });
        await c.create({ spec: { lifecycle: { preDelete: { labelsHandler: { hold: 'yes' } } } } });
        const event = await c.untilWarning('FailedFinalizer');
        assert.match(event.note ?? '', /no finalizers here/);
        await permit();
        await c.until('it has its finalizer', async () =>
          (await c.advanced()).metadata.finalizers?.includes('edgeset.io/pre-delete'),
        );
        await c.untilRunning('app:v1');
        await c.untilEvent('SuccessfulCreate');
        await c.change({ spec: { lifecycle: null } });
        await c.until('it is let go', async () => ((await c.advanced()).metadata.finalizers ?? []).length === 0);
      },
      { nodes: 1, refusals: true, expected: /no finalizers here/ },
    );

    rule(
      'a selector that is too long for a request is reported, and matches no pod',
      async (c) => {
        await c.create({ spec: { selector: longSelector } });
        await c.untilWarning('SelectorTooLong');
        await c.until('its conditions say so', async () =>
          isDeepStrictEqual(conditionsOf(['Ready', 'Stalled'], (await c.advanced()).status?.conditions), [
            'SelectorTooLong',
            'SelectorTooLong',
          ]),
        );
        assert.deepEqual(await c.pods(), []);
      },
      { nodes: 1 },
    );

    rule(
      'a topology key spreads each wave over its values, and OnDelete is at rest with the node outdated',
      async (c) => {
        const zones = new Map<string, string>();
        for (const zone of ['a', 'b', 'c']) {
          const names = ['1', '2', '3'].map((index) => `${c.namespace}-${zone}${index}`);
          await c.addNodes(names, { zone });
          for (const name of names) zones.set(name, zone);
        }
        const all = [...zones.keys()];
        await c.create({
          annotations: { 'edgeset.io/topology-key': 'topology.kubernetes.io/zone' },
          rollingUpdate: { maxUnavailable: 3 },
          podAnnotations: { 'sim.edgeset.io/start-ms': '1500' },
        });
        await c.untilComplete('app:v1', all);
        await c.setImage('app:v2');
        await c.until('a wave', async () => (await c.updates()).length >= 3);
        await c.until('there is more to do', async () => {
          const { status } = await c.advanced();
          return conditionsOf(['Ready', 'Reconciling'], status?.conditions).every((one) => one === 'Incomplete');
        });
        const wave = (await c.updatedNodes()).slice(0, 3).map((node) => zones.get(node) ?? '');
        assert.deepEqual(wave.toSorted(), ['a', 'b', 'c']);
        await c.untilRunning('app:v2', all);
        await c.change({ spec: { updateStrategy: { type: 'OnDelete' } } });
        await c.setImage('app:v3');
        await c.until('it is for others to continue', async () => {
          const { status } = await c.advanced();
          return conditionsOf(['Ready', 'Reconciling'], status?.conditions).every((reason) => reason === 'OnDelete');
        });
      },
      { nodes: [] },
    );

    rule(
      'on-failure restores the last template, and resume continues with the halted one after all',
      async (c) => {
        const annotations = { 'edgeset.io/on-failure': 'rollback', 'edgeset.io/failure-threshold': '1' };
        await c.startRollout('app:v2--crash-loop', { annotations });
        await c.untilEvent('RolledBack');
        await c.untilRunning('app:v1');
        await c.annotate({ 'edgeset.io/on-failure': null });
        await c.setImage('app:v2--crash-loop');
        await c.untilCondition('Halted');
        const before = (await c.updates()).length;
        await c.expectNoUpdatesFor(1);
        await c.annotate({ 'edgeset.io/resume': (await c.status()).target?.hash ?? '' });
        await c.untilUpdates(before + 1);
      },
      { nodes: 2 },
    );

    rule(
      'a version that takes nodes offline has failed there once suspect-window-seconds are over',
      async (c) => {
        const [away = ''] = c.nodes;
        await c.startRollout('app:v2', {
          annotations: { 'edgeset.io/suspect-window-seconds': '25', 'edgeset.io/failure-threshold': '1' },
          rollingUpdate: { maxUnavailable: 1, partition: 1 },
        });
        await c.until('one is updated', async () => (await c.running('app:v2')).length === 1);
        const [updated = away] = await c.running('app:v2');
        await c.cluster.offline([updated]);
        await c.until('it is a suspect', async () => (await c.status()).breaker?.suspects === 1);
        await c.change({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
        await c.untilCondition('Halted');
        assert.equal((await c.condition('Halted'))?.reason, 'Failures');
        assert.equal((await c.updates()).length, 1);
      },
      { nodes: 2 },
    );
  },
  { kind: 'advanced' },
);
