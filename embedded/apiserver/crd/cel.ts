import { createRequire } from 'node:module';
import type { Environment, Optional } from '@marcbachmann/cel-js';

type Evaluate = (variables: Record<string, unknown>) => unknown;

type CelModule = { readonly Environment: typeof Environment; readonly Optional: typeof Optional };

const require = createRequire(import.meta.url);

let environment: InstanceType<typeof Environment> | undefined;

const compareValues = (a: unknown, b: unknown): number => {
  const [left, right] = [a as string | number | bigint, b as string | number | bigint];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** The CEL functions that Kubernetes adds, as far as CRD rules use them; the library provides the standard ones. */
const createEnvironment = (): InstanceType<typeof Environment> => {
  // Loaded lazily: it takes tens of milliseconds, and only CRDs with rules need it.
  const cel = require('@marcbachmann/cel-js') as CelModule;
  return new cel.Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  })
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, to),
    )
    .registerFunction(
      'string.find(string): string',
      // oxlint-disable-next-line linear/patterns -- From the CRD of whoever runs this cluster.
      (text: string, pattern: string) => new RegExp(pattern, 'u').exec(text)?.[0] ?? '',
    )
    .registerFunction(
      'string.findAll(string): list',
      // oxlint-disable-next-line linear/patterns -- From the CRD of whoever runs this cluster.
      (text: string, pattern: string) => text.match(new RegExp(pattern, 'gu')) ?? [],
    )
    .registerFunction('list.isSorted(): bool', (list: unknown[]) =>
      list.every((item, index) => index === 0 || compareValues(list[index - 1], item) <= 0),
    )
    .registerFunction('list.sum(): dyn', (list: (bigint | number)[]) =>
      list.length === 0
        ? 0n
        : list.reduce((a, b) => (typeof a === 'bigint' && typeof b === 'bigint' ? a + b : Number(a) + Number(b))),
    )
    .registerFunction('list.min(): dyn', (list: unknown[]) => list.reduce((a, b) => (compareValues(b, a) < 0 ? b : a)))
    .registerFunction('list.max(): dyn', (list: unknown[]) => list.reduce((a, b) => (compareValues(b, a) > 0 ? b : a)))
    .registerFunction('list.indexOf(dyn): int', (list: unknown[], item: unknown) => BigInt(list.indexOf(item)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: unknown[], item: unknown) => BigInt(list.lastIndexOf(item)));
};

/** CEL's optional of a value; without one for undefined. */
export const optional = (value: unknown): unknown => {
  const { Optional: type } = require('@marcbachmann/cel-js') as CelModule;
  return value === undefined ? type.none() : type.of(value);
};

const programs = new Map<string, Evaluate>();

/** Compiles a rule or message expression. Throws the library's error for invalid CEL. */
export const compile = (expression: string): Evaluate => {
  let program = programs.get(expression);
  if (!program) {
    environment ??= createEnvironment();
    const parsed = environment.parse(expression);
    program = (variables) => parsed(variables) as unknown;
    programs.set(expression, program);
  }
  return program;
};
