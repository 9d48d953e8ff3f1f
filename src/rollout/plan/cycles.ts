/** A DaemonSet of one namespace. */
interface OrderedName {
  apiGroup: string;
  name: string;
}

const keyOf = ({ apiGroup, name }: OrderedName): string => `${apiGroup}/${name}`;

type AfterOf = (one: OrderedName) => readonly OrderedName[];

/** How many DaemonSets are looked at for the shortest cycle; of a longer one, people are told the beginning. */
const LOOKED_AT = 20;

/**
 * By key, the DaemonSets that a DaemonSet waits for and that wait for it, itself among them (the strongly connected components, by
 * Tarjan's algorithm). In linear time and without recursion, because users decide how many there are.
 */
const componentsOf = (starts: readonly OrderedName[], afterOf: AfterOf): Map<string, readonly OrderedName[]> => {
  const indexes = new Map<string, number>();
  const components = new Map<string, readonly OrderedName[]>();
  const open: string[] = [];
  const names = new Map<string, OrderedName>();
  const path: { key: string; index: number; low: number; rest: OrderedName[] }[] = [];
  const enter = (one: OrderedName): void => {
    const [key, index] = [keyOf(one), indexes.size];
    indexes.set(key, index);
    names.set(key, one);
    open.push(key);
    path.push({ key, index, low: index, rest: [...afterOf(one)] });
  };
  for (const start of starts) {
    if (!indexes.has(keyOf(start))) enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.pop();
      if (next) {
        const index = indexes.get(keyOf(next));
        if (index === undefined) enter(next);
        else if (!components.has(keyOf(next))) top.low = Math.min(top.low, index);
        continue;
      }
      path.pop();
      const before = path.at(-1);
      if (before) before.low = Math.min(before.low, top.low);
      if (top.low !== top.index) continue;
      const keys = open.splice(open.lastIndexOf(top.key));
      const component = keys.flatMap((key) => names.get(key) ?? []);
      for (const key of keys) components.set(key, component);
    }
  }
  return components;
};

/** The shortest cycle that the DaemonSet leads in, beginning and ending with it; undefined if it is not among what is looked at. */
const shortest = (start: OrderedName, afterOf: AfterOf): readonly OrderedName[] | undefined => {
  const ways: (readonly OrderedName[])[] = [[start]];
  const seen = new Set<string>();
  for (let at = 0; at < Math.min(ways.length, LOOKED_AT); at += 1) {
    const way = ways[at] ?? [];
    for (const next of afterOf(way.at(-1) ?? start)) {
      if (keyOf(next) === keyOf(start)) return [...way, next];
      if (seen.has(keyOf(next))) continue;
      seen.add(keyOf(next));
      ways.push([...way, next]);
    }
  }
  return undefined;
};

const toNames = (cycle: readonly OrderedName[]): string[] => {
  const isMixed = new Set(cycle.map(({ apiGroup }) => apiGroup)).size > 1;
  return cycle.map(({ apiGroup, name }) => (isMixed ? `${apiGroup === 'apps' ? 'ds' : 'ads'}/${name}` : name));
};

/**
 * For each of these DaemonSets, those that wait for each other by their plans, beginning and ending with it, for people; undefined:
 * it waits for itself by none. `afterOf`: what the plan of a DaemonSet says, as it is written.
 */
export const findCycles = (starts: readonly OrderedName[], afterOf: AfterOf): (string[] | undefined)[] => {
  const components = componentsOf(starts, afterOf);
  return starts.map((start) => {
    const component = components.get(keyOf(start));
    const next = afterOf(start).find((one) => components.get(keyOf(one)) === component);
    if (!component || !next) return undefined;
    const cycle = shortest(start, afterOf);
    if (cycle) return toNames(cycle);
    const [first = '', second = '', last = ''] = toNames([start, next, start]);
    return [first, second, `... (${component.length} DaemonSets in all)`, last];
  });
};
