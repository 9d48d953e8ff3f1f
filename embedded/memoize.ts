/** Caches the results of a pure function by the identity of its argument, for as long as the argument lives. */
export const memoize = <K extends object, V>(compute: (key: K) => V): ((key: K) => V) => {
  const results = new WeakMap<K, V>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const made = compute(key);
    results.set(key, made);
    return made;
  };
};
