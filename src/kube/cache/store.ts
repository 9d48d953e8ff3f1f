import type { Store } from '../client/types.ts';

export type Indexers<P> = Record<string, (value: P) => readonly string[]>;

/** The write side of a store. */
export interface MutableStore<P> extends Store<P> {
  /** Returns the previous value. When an index function throws, so does this, and nothing changes. */
  set(key: string, value: P): P | undefined;
  delete(key: string): P | undefined;
}

interface Entry<P> {
  value: P;
  /** The value's terms in each index, in the order of the index names, so that index functions run once per change. */
  terms: readonly (readonly string[])[];
}

/** A map with indexes. A change costs O(1) per index term. */
export const createStore = <P>(indexers: Indexers<P> = {}): MutableStore<P> => {
  const names = Object.keys(indexers);
  const functions = Object.values(indexers);
  const entriesByKey = new Map<string, Entry<P>>();
  const buckets = new Map<string, Map<string, Map<string, P>>>(names.map((name) => [name, new Map()]));
  const noTerms: readonly (readonly string[])[] = [];

  const addToIndexes = (key: string, { value, terms }: Entry<P>): void => {
    names.forEach((name, at) => {
      const index = buckets.get(name);
      for (const term of terms[at] ?? []) {
        let bucket = index?.get(term);
        if (bucket === undefined) {
          bucket = new Map();
          index?.set(term, bucket);
        }
        bucket.set(key, value);
      }
    });
  };

  /** Removes the key from all buckets except those of `keep`. Empty buckets are deleted, or the index grows forever. */
  const removeFromIndexes = (key: string, { terms }: Entry<P>, keep: readonly (readonly string[])[]): void => {
    names.forEach((name, at) => {
      const index = buckets.get(name);
      for (const term of terms[at] ?? []) {
        if (keep[at]?.includes(term)) continue;
        const bucket = index?.get(term);
        bucket?.delete(key);
        if (bucket?.size === 0) index?.delete(term);
      }
    });
  };

  return {
    get: (key) => entriesByKey.get(key)?.value,
    byIndex(index, value) {
      const terms = buckets.get(index);
      if (terms === undefined)
        throw new RangeError(`no index ${JSON.stringify(index)}: there are ${names.join(', ') || 'none'}`);
      return [...(terms.get(value)?.values() ?? [])];
    },
    *values() {
      for (const { value } of entriesByKey.values()) yield value;
    },
    *entries() {
      for (const [key, { value }] of entriesByKey) yield [key, value];
    },
    get size() {
      return entriesByKey.size;
    },
    set(key, value) {
      const next: Entry<P> = {
        value,
        terms: names.length === 0 ? noTerms : functions.map((terms) => [...new Set(terms(value))]),
      };
      const previous = entriesByKey.get(key);
      if (previous !== undefined) removeFromIndexes(key, previous, next.terms);
      entriesByKey.set(key, next);
      addToIndexes(key, next);
      return previous?.value;
    },
    delete(key) {
      const previous = entriesByKey.get(key);
      if (previous === undefined) return undefined;
      entriesByKey.delete(key);
      removeFromIndexes(key, previous, noTerms);
      return previous.value;
    },
  };
};
