import type { Store } from '../client/types.ts';

export type Indexers<P> = Record<string, (value: P) => readonly string[]>;

/** The owner's side of a store. */
export interface MutableStore<P> extends Store<P> {
  /** Returns what the key held before. Throws what an index function throws, and then changes nothing. */
  set(key: string, value: P): P | undefined;
  delete(key: string): P | undefined;
}

interface Filed<P> {
  value: P;
  /** For each index, in the order of their names, where the value is filed: index functions are not asked twice. */
  terms: readonly (readonly string[])[];
}

/** A map with indexes. Every change costs O(1) an index term. */
export const createStore = <P>(indexers: Indexers<P> = {}): MutableStore<P> => {
  const names = Object.keys(indexers);
  const functions = Object.values(indexers);
  const filed = new Map<string, Filed<P>>();
  const buckets = new Map<string, Map<string, Map<string, P>>>(names.map((name) => [name, new Map()]));
  const noTerms: readonly (readonly string[])[] = [];

  const file = (key: string, { value, terms }: Filed<P>): void => {
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

  /** Takes the key out of the buckets that `keep` does not name; empty buckets go, or the index grows for ever. */
  const unfile = (key: string, { terms }: Filed<P>, keep: readonly (readonly string[])[]): void => {
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
    get: (key) => filed.get(key)?.value,
    byIndex(index, value) {
      const terms = buckets.get(index);
      if (terms === undefined)
        throw new RangeError(`no index ${JSON.stringify(index)}: there are ${names.join(', ') || 'none'}`);
      return [...(terms.get(value)?.values() ?? [])];
    },
    *values() {
      for (const { value } of filed.values()) yield value;
    },
    *entries() {
      for (const [key, { value }] of filed) yield [key, value];
    },
    get size() {
      return filed.size;
    },
    set(key, value) {
      const next: Filed<P> = {
        value,
        terms: names.length === 0 ? noTerms : functions.map((terms) => [...new Set(terms(value))]),
      };
      const previous = filed.get(key);
      if (previous !== undefined) unfile(key, previous, next.terms);
      filed.set(key, next);
      file(key, next);
      return previous?.value;
    },
    delete(key) {
      const previous = filed.get(key);
      if (previous === undefined) return undefined;
      filed.delete(key);
      unfile(key, previous, noTerms);
      return previous.value;
    },
  };
};
