import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from '../testing/schemas.ts';
import { daemonRolloutCrd } from './daemon-rollout.ts';
import { planCrds } from './plans.ts';
import { daemonRolloutStatusSchema } from './status.ts';

const schemas = [
  { crd: daemonRolloutCrd, schema: daemonRolloutStatusSchema, root: 'status' },
  ...planCrds.map((crd) => ({
    crd,
    schema: crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec,
    root: 'spec',
  })),
];

for (const { crd, schema, root } of schemas)
  describe(`the CRD ${crd.spec.names.kind}`, () => {
    assert.ok(schema);
    const { walk, fields } = inspect(schema, root);

    it('describes every field in a sentence', () =>
      walk(({ description }, path) => assert.match(description, /^\p{L}.*[^.]\.$/su, path)));

    it('limits every text and every list, and identifies list items', () =>
      walk((one, path) => {
        if (one.type === 'string') assert.ok(one.maxLength ?? one.enum, path);
        if (one.type !== 'array') return;
        assert.ok(one.maxItems && one.items, path);
        assert.ok(one['x-kubernetes-list-type'], path);
        const keys = one['x-kubernetes-list-map-keys'] ?? [];
        assert.equal(keys.length > 0, one['x-kubernetes-list-type'] === 'map', path);
        const { required = [], properties = {} } = one.items;
        // The API server fills in a default before it compares keys.
        for (const key of keys)
          assert.ok(required.includes(key) || properties[key]?.default !== undefined, `${path} is keyed by ${key}`);
      }));

    it('has printer columns that exist', () => {
      for (const { jsonPath } of crd.spec.versions[0]?.additionalPrinterColumns ?? [])
        if (jsonPath !== '.metadata.creationTimestamp')
          assert.ok(fields.includes(jsonPath.slice(1).replace(/\[\d\]/, '[]')), jsonPath);
    });
  });
