import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { daemonRolloutCrd } from './crd.ts';
import type { Schema } from './crd-schema.ts';
import { daemonRolloutStatusSchema } from './crd-status.ts';
import { type DaemonRollout, type DaemonRolloutStatus, daemonRolloutLimits } from './types.ts';

/** Every optional field given, at any depth. */
type Full<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Full<Item>[]
    : { [K in keyof T]-?: Full<NonNullable<T[K]>> };

type RequiredKeys<T> = { [K in keyof T]-?: T extends Record<K, T[K]> ? K : never }[keyof T];

/** No optional field given, at any depth. */
type Least<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Least<Item>[]
    : { [K in RequiredKeys<T>]: Least<T[K]> };

/** No optional field given below the first level. */
type Sparse<T> = { [K in keyof T]-?: Least<NonNullable<T[K]>> };

const time = '2026-03-01T10:00:00Z';

const least = {
  observedGeneration: 3,
  policyHash: '0a1b2c3d4e',
  strategy: 'auto',
  leader: 'manager-1_0a1b2c',
  summary: '12 of 15 updated',
  target: { revision: 'web-6d8c', hash: '6d8c', number: 4 },
  rollout: 2,
  acted: 12,
  startedAt: time,
  finishedAt: time,
  estimatedFinishAt: time,
  nodes: {
    eligible: 15,
    online: 14,
    offlineOutdated: 1,
    updated: 12,
    updating: 1,
    outdated: 1,
    broken: 0,
    offline: 1,
    settling: 0,
    held: 0,
    failed: 0,
    missing: 0,
  },
  causes: [{ phase: 'updated', cause: 'current', count: 12 }],
  budget: { maxUnavailable: '10%', nodes: 2, inUse: 1, inFlight: 1 },
  breaker: { failures: 0, suspects: 1, threshold: 3 },
  owners: { asked: 1, nodes: ['n1'] },
  images: { pulled: 1, pulling: 1, waiting: 0, failed: 1, failing: [{ node: 'n1', message: 'no such image' }] },
  failing: [{ node: 'n1', cause: 'crash-loop', message: 'It crashes.', since: time }],
  conditions: [{ type: 'Complete', status: 'False', reason: 'InProgress', message: '', lastTransitionTime: time }],
  halted: { at: time, reason: 'Failures', nodes: ['n1'] },
  resumed: '6d8c/1',
  lastComplete: { revision: 'web-5f7b', hash: '5f7b' },
  reservations: [{ node: 'n2', podUID: 'u', rollout: 2, at: '2026-03-01T10:00:00.250Z', carriedOut: false }],
  forgiven: ['n3'],
} satisfies Sparse<DaemonRolloutStatus>;

const full: Full<DaemonRolloutStatus> = {
  ...least,
  budget: { ...least.budget, maxSurge: '0' },
  strategy: 'ota',
  causes: [{ phase: 'failed', cause: 'crash-loop', count: 1 }],
  owners: { ...least.owners, deadline: time, deadlineSpreadSeconds: 3600 },
  halted: { at: time, reason: 'RolledBack', nodes: [] },
  conditions: least.conditions.map((condition) => ({ ...condition, observedGeneration: 3 })),
  reservations: least.reservations.map((reservation) => ({
    ...reservation,
    kind: 'in-place' as const,
    podRevision: '6d8c',
    podName: 'web-x7k2p',
    podResourceVersion: '77',
    repairs: { kind: 'in-place' as const, podUID: 'u', rollout: 1, at: time },
  })),
};

const closed = (schema: Schema): object => ({
  ...schema,
  ...(schema.items && { items: closed(schema.items) }),
  ...(schema.properties && {
    additionalProperties: false,
    properties: Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, closed(inner)])),
  }),
});
const validator = z.fromJSONSchema(closed(daemonRolloutStatusSchema) as Parameters<typeof z.fromJSONSchema>[0]);
const accepts = (status: unknown): boolean => validator.safeParse(status).success;

type Visit = (schema: Schema, path: string) => void;
const walk = (schema: Schema, visit: Visit, path = 'status'): void => {
  visit(schema, path);
  if (schema.items) walk(schema.items, visit, `${path}[]`);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) walk(inner, visit, `${path}.${name}`);
};
const paths = (keep: (schema: Schema) => readonly string[]): string[] => {
  const found: string[] = [];
  walk(daemonRolloutStatusSchema, (schema, path) => found.push(...keep(schema).map((name) => `${path}.${name}`)));
  return found.toSorted();
};
const pathsIn = (value: unknown, path = 'status'): string[] => {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .flatMap(([name, inner]) => [`${path}.${name}`, ...pathsIn(inner, `${path}.${name}`)])
    .toSorted();
};

describe('the schema of the status and its type', () => {
  it('agree on every field', () => {
    assert.deepEqual(validator.safeParse(full).error?.issues ?? [], []);
    assert.deepEqual(
      pathsIn(full),
      paths(({ properties }) => Object.keys(properties ?? {})),
    );
  });

  it('agree on which fields are required', () => {
    assert.deepEqual(validator.safeParse(least).error?.issues ?? [], []);
    const present = pathsIn(least);
    const nested = present.filter((path) => path.split('.').length > 2);
    const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('.')).replace(/\[\]$/, '');
    const required = paths((schema) => schema.required ?? []).filter((path) => present.includes(parentOf(path)));
    assert.deepEqual(nested, required);
    assert.ok(accepts({}), 'a status may have any subset of its fields');
  });

  it('include every value of their unions', () => {
    for (const strategy of ['auto', 'ota'] satisfies DaemonRolloutStatus['strategy'][])
      assert.ok(accepts({ strategy }));
  });

  const mistakes: [name: string, status: object][] = [
    ['an unknown field', { ...full, progress: 1 }],
    ['an unknown field within', { target: { ...full.target, name: 'x' } }],
    ['a missing field within', { target: { revision: 'a', hash: 'b' } }],
    ['a repair without a time', { reservations: [{ ...full.reservations[0], repairs: { rollout: 1 } }] }],
    ['a fraction', { rollout: 1.5 }],
    ['a negative count', { acted: -1 }],
    ['text for a number', { rollout: '1' }],
    ['a time without a zone', { startedAt: '2026-03-01T10:00:00' }],
    ['an unknown strategy', { strategy: 'by hand' }],
    ['an unknown phase', { causes: [{ phase: 'gone', cause: 'x', count: 1 }] }],
    ['a summary that is too long', { summary: 'x'.repeat(daemonRolloutLimits.summary + 1) }],
    ['too many failing nodes', { failing: Array.from({ length: 11 }, () => full.failing[0]) }],
    ['a condition without a reason', { conditions: [{ ...full.conditions[0], reason: '' }] }],
  ];
  for (const [name, status] of mistakes) it(`refuse ${name}`, () => assert.equal(accepts(status), false));
});

describe('the schema', () => {
  it('describes every field in a sentence', () =>
    walk(daemonRolloutStatusSchema, ({ description }, path) => assert.match(description, /^\p{L}.*\.$/su, path)));

  it('limits every text and every list, and identifies list items', () =>
    walk(daemonRolloutStatusSchema, (schema, path) => {
      if (schema.type === 'string') assert.ok(schema.maxLength ?? schema.enum, path);
      if (schema.type !== 'array') return;
      assert.ok(schema.maxItems && schema.items, path);
      assert.ok(schema['x-kubernetes-list-type'], path);
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      assert.equal(keys.length > 0, schema['x-kubernetes-list-type'] === 'map', path);
      for (const key of keys) assert.ok(schema.items.required?.includes(key), `${path} is keyed by ${key}`);
    }));

  it('has printer columns that exist', () => {
    const fields = new Set(pathsIn({ ...full }));
    const [version] = daemonRolloutCrd.spec.versions;
    for (const { jsonPath } of version?.additionalPrinterColumns ?? []) {
      if (jsonPath !== '.metadata.creationTimestamp') assert.ok(fields.has(jsonPath.slice(1)), jsonPath);
    }
  });

  it('accepts an object of the type', () => {
    const rollout: DaemonRollout = {
      apiVersion: 'edgeset.io/v1alpha1',
      kind: 'DaemonRollout',
      metadata: { name: 'web', namespace: 'default' },
      status: full,
    };
    const { names, group, versions } = daemonRolloutCrd.spec;
    assert.equal(rollout.kind, names.kind);
    assert.equal(rollout.apiVersion, `${group}/${versions[0]?.name}`);
    assert.equal(daemonRolloutCrd.metadata.name, `${names.plural}.${group}`);
  });
});
