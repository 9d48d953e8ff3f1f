import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { identical, sharing } from './json.ts';

describe('sharing with a stored object', () => {
  it('changes nothing but what is shared', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, stored) => {
        assert.deepEqual(sharing(value, stored), value);
      }),
    );
  });

  it('returns the stored object for a copy of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (stored) => {
        const copy: unknown = structuredClone(stored);
        assert.equal(sharing(copy, stored), stored);
        assert.ok(identical(copy, stored));
      }),
    );
  });

  it('shares the parts that are the same', () => {
    const stored = { metadata: { name: 'a' }, status: { conditions: [{ type: 'X' }, { type: 'Y' }], count: 1 } };
    const sent = {
      metadata: { name: 'a' },
      status: { conditions: [{ type: 'X' }, { type: 'Z' }], count: 2 },
      spec: {},
    };
    const shared = sharing(sent, stored) as typeof sent;
    assert.deepEqual(shared, sent);
    assert.equal(shared.metadata, stored.metadata);
    assert.equal(shared.status.conditions[0], stored.status.conditions[0]);
    assert.notEqual(shared.status, stored.status);
  });

  it('shares nothing with an object that has more', () => {
    const stored = { spec: { a: 1, b: 2 } };
    assert.deepEqual(sharing({ spec: { a: 1 } }, stored), { spec: { a: 1 } });
    assert.deepEqual(sharing({ list: [1] }, { list: [1, 2] }), { list: [1] });
  });
});
