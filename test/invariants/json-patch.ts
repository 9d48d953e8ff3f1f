import type { Pod } from 'kubernetes-types/core/v1.d.ts';

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const operationsIn = (body: unknown): readonly Operation[] => (Array.isArray(body) ? (body as Operation[]) : []);

/** Items of lists are without their places: an item lists only what is set of it. */
const put = (into: Record<string, unknown>, [step = '', next, ...rest]: readonly string[], value: unknown): void => {
  if (next === undefined) into[step] = value;
  else if (/^\d+$/.test(next)) {
    const list = (into[step] ??= []) as unknown[];
    const item: Record<string, unknown> = {};
    list.push(item);
    if (rest.length > 0) put(item, rest, value);
  } else put((into[step] ??= {}) as Record<string, unknown>, [next, ...rest], value);
};

/** What a write asks for of a pod, in the form of a pod: a JSON patch names its UID in a test. */
export const askedOf = (body: unknown): Pod | undefined => {
  if (!Array.isArray(body)) return body as Pod | undefined;
  const asked: Record<string, unknown> = {};
  for (const { op, path, value } of operationsIn(body)) {
    if (op === 'remove') put(asked, stepsOf(path), null);
    else if (op !== 'test' || path === '/metadata/uid') put(asked, stepsOf(path), value);
  }
  return asked;
};

/** What a JSON patch depends on: the values that it tests, by their paths. Undefined for another patch. */
export const testsIn = (body: unknown): ReadonlyMap<string, unknown> | undefined =>
  Array.isArray(body)
    ? new Map(operationsIn(body).flatMap(({ op, path, value }) => (op === 'test' ? [[path, value]] : [])))
    : undefined;
