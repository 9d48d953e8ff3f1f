import { z } from 'zod';
import type { Schema } from '../crd/schema.ts';

/** Every optional field given, at any depth. */
export type Full<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Full<Item>[]
    : { [K in keyof T]-?: Full<NonNullable<T[K]>> };

const closed = (schema: Schema): object => ({
  ...schema,
  ...(schema.items && { items: closed(schema.items) }),
  ...(schema.properties && {
    additionalProperties: false,
    properties: Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, closed(inner)])),
  }),
});

type Visit = (schema: Schema, path: string) => void;
const walkFrom = (schema: Schema, visit: Visit, path: string): void => {
  visit(schema, path);
  if (schema.items) walkFrom(schema.items, visit, `${path}[]`);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) walkFrom(inner, visit, `${path}.${name}`);
};

/** Looks into a schema; unknown fields are refused, where the API server would drop them. */
export const inspect = (schema: Schema, root: string) => {
  const validator = z.fromJSONSchema(closed(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  const fields: string[] = [];
  walkFrom(
    schema,
    (one, path) => fields.push(...Object.keys(one.properties ?? {}).map((name) => `${path}.${name}`)),
    root,
  );
  return {
    accepts: (value: unknown): boolean => validator.safeParse(value).success,
    issuesOf: (value: unknown): readonly unknown[] => validator.safeParse(value).error?.issues ?? [],
    walk: (visit: Visit): void => walkFrom(schema, visit, root),
    fields,
  };
};
