import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createStore } from './store.ts';

interface Value {
  id: number;
  node: string;
  tags: string[];
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const operation = fc.oneof(
  fc.record({ key: name, value: fc.record({ id: fc.nat(), node: name, tags: fc.array(name) }) }),
  fc.record({ key: name }),
);

test('behaves like a map, and its indexes equal recomputed ones, under any operations', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const store = createStore<Value>({ node: (value) => [value.node], tag: (value) => value.tags });
      const model = new Map<string, Value>();
      for (const step of operations) {
        const before = model.get(step.key);
        if ('value' in step) {
          assert.equal(store.set(step.key, step.value), before);
          model.set(step.key, step.value);
        } else {
          assert.equal(store.delete(step.key), before);
          model.delete(step.key);
        }
        assert.equal(store.size, model.size);
        assert.deepEqual(new Map(store.entries()), model);
        assert.deepEqual(
          [...store.values()],
          [...store.entries()].map(([, value]) => value),
        );
        const sorted = (values: readonly Value[]): Value[] => values.toSorted((a, b) => a.id - b.id);
        for (const term of ['a', 'b', 'c', 'd']) {
          const all = [...model.values()];
          assert.deepEqual(sorted(store.byIndex('node', term)), sorted(all.filter((value) => value.node === term)));
          assert.deepEqual(
            sorted(store.byIndex('tag', term)),
            sorted(all.filter((value) => value.tags.includes(term))),
          );
        }
      }
    }),
  );
});

test('an unknown index throws and names the known ones; an index function that throws changes nothing', () => {
  const store = createStore<Value>({
    node: (value) => {
      if (value.id < 0) throw new Error('bad');
      return [value.node];
    },
  });
  assert.throws(() => store.byIndex('zone', 'x'), { name: 'RangeError', message: /"zone".*node/ });
  store.set('k', { id: 1, node: 'n', tags: [] });
  assert.throws(() => store.set('k', { id: -1, node: 'm', tags: [] }), { message: 'bad' });
  assert.equal(store.byIndex('node', 'n').length, 1);
  assert.equal(store.get('k')?.id, 1);
});
