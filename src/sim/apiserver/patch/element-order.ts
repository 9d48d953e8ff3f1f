import { isRecord } from '../value/index.ts';

const idOf = (item: unknown, key: string | undefined): string =>
  JSON.stringify(key === undefined ? item : isRecord(item) ? item[key] : item);

/**
 * The items of a merged list in the order that the patch asks for. Items that the patch does not know keep their place
 * among those that the server had.
 */
export const orderElements = (
  merged: readonly unknown[],
  order: readonly unknown[],
  server: readonly unknown[],
  key: string | undefined,
): unknown[] => {
  const wanted = new Map(order.map((item, index) => [idOf(item, key), index]));
  const places = new Map(server.map((item, index) => [idOf(item, key), index]));
  const known = merged
    .filter((item) => wanted.has(idOf(item, key)))
    .toSorted((a, b) => (wanted.get(idOf(a, key)) ?? 0) - (wanted.get(idOf(b, key)) ?? 0));
  const others = merged.filter((item) => !wanted.has(idOf(item, key)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of known) {
    const place = places.get(idOf(item, key));
    for (let other = others[next]; place !== undefined && next < others.length; other = others[next]) {
      const otherPlace = places.get(idOf(other, key));
      if (otherPlace === undefined || otherPlace > place) break;
      result.push(other);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
};
