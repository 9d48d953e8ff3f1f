/** Values by group and key, for indexes. Empty groups are dropped. */
export interface GroupedMap<T> {
  /** The group's live map, in insertion order. */
  get(group: string): ReadonlyMap<string, T>;
  set(group: string, key: string, value: T): void;
  delete(group: string, key: string): void;
}

export const createGroupedMap = <T>(): GroupedMap<T> => {
  const groups = new Map<string, Map<string, T>>();
  return {
    get: (group) => groups.get(group) ?? new Map<string, T>(),
    set(group, key, value) {
      const present = groups.get(group);
      if (present) present.set(key, value);
      else groups.set(group, new Map([[key, value]]));
    },
    delete(group, key) {
      const present = groups.get(group);
      present?.delete(key);
      if (present?.size === 0) groups.delete(group);
    },
  };
};
