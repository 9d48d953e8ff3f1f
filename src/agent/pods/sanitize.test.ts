import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { sanitizePod } from './sanitize.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const secret = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'tokens', key: 'app' } } };
const containers = [{ name: 'app', image: 'app:v1', env: [{ name: 'PASSWORD', value: 'hunter2' }, secret] }];
const pod: Pod = {
  metadata: {
    name: 'app-1',
    managedFields: [{ manager: 'kubectl', operation: 'Update' }],
    annotations: {
      [LAST_APPLIED]: JSON.stringify({
        kind: 'Pod',
        spec: { containers, initContainers: containers, ephemeralContainers: containers },
      }),
      own: 'kept',
    },
  },
  spec: { containers, initContainers: containers, ephemeralContainers: containers },
};

test('literal values are removed everywhere; names and references stay', () => {
  const before = structuredClone(pod);
  const shown = sanitizePod(pod);
  assert.ok(!JSON.stringify(shown).includes('hunter2'));
  assert.deepEqual(pod, before, 'the given pod is not changed');
  for (const list of [shown.spec?.containers, shown.spec?.initContainers, shown.spec?.ephemeralContainers])
    assert.deepEqual(list?.[0]?.env, [{ name: 'PASSWORD' }, secret]);
  const applied: unknown = JSON.parse(shown.metadata?.annotations?.[LAST_APPLIED] ?? '');
  const hidden = [{ ...containers[0], env: [{ name: 'PASSWORD' }, secret] }];
  assert.deepEqual(applied, {
    kind: 'Pod',
    spec: { containers: hidden, initContainers: hidden, ephemeralContainers: hidden },
  });
  assert.equal(shown.metadata?.annotations?.own, 'kept');
  assert.equal(shown.metadata?.managedFields, undefined);
  assert.equal(shown.kind, 'Pod');
});

test('an invalid last-applied configuration is removed', () => {
  for (const text of ['{"spec":', '"hunter2"', '[{"value":"hunter2"}]']) {
    const shown = sanitizePod({ metadata: { annotations: { [LAST_APPLIED]: text, own: 'kept' } } });
    assert.deepEqual(shown.metadata?.annotations, { own: 'kept' }, text);
  }
});

test('unexpected values in a last-applied configuration are harmless', () => {
  const text = JSON.stringify({
    spec: { containers: [null, 'x', { env: [null, 3, { value: 'hunter2' }] }], other: 1 },
  });
  const shown = sanitizePod({ metadata: { annotations: { [LAST_APPLIED]: text } } });
  assert.deepEqual(JSON.parse(shown.metadata?.annotations?.[LAST_APPLIED] ?? ''), {
    spec: { containers: [null, 'x', { env: [null, 3, {}] }], other: 1 },
  });
});
