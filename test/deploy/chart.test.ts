import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { chartValues, README_FILE, renderChartReadme } from '../../scripts/write-chart-readme.ts';

const chart = path.join(import.meta.dirname, '..', '..', 'charts', 'edgeset');
const read = (file: string): string => readFileSync(path.join(chart, file), 'utf8');

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  definitions?: Record<string, Schema>;
}

const schema = JSON.parse(read('values.schema.json')) as Schema;

const resolve = (one: Schema | undefined): Schema | undefined =>
  one?.$ref ? schema.definitions?.[one.$ref.slice('#/definitions/'.length)] : one;

/** Paths of all values that the schema lists; objects of which it lists the keys are no values themselves. */
const pathsIn = (one: Schema, prefix = ''): string[] =>
  Object.entries(one.properties ?? {}).flatMap(([key, each]) => {
    const found = resolve(each);
    const own = `${prefix}${key}`;
    return found?.properties ? [own, ...pathsIn(found, `${own}.`)] : [own];
  });

describe('the chart', () => {
  it('has the version of the package', () => {
    const { version, appVersion } = parse(read('Chart.yaml')) as { version: string; appVersion: string };
    assert.deepEqual([version, appVersion], [manifest.version, manifest.version]);
  });

  it('describes every value, in values.yaml and in the README', () => {
    const values = chartValues();
    assert.ok(values.length > 60);
    assert.deepEqual(
      values.filter(({ description }) => !description.endsWith('.')).map(({ path: value }) => value),
      [],
    );
    assert.equal(readFileSync(README_FILE, 'utf8'), renderChartReadme(), 'run: npm run generate');
  });

  it('has a schema of exactly these values', () => {
    const known = new Set(pathsIn(schema));
    const values = chartValues().map(({ path: value }) => value);
    assert.deepEqual(
      values.filter((value) => !known.has(value)),
      [],
    );
    const isPartOf = (value: string): boolean =>
      values.some((one) => one === value || one.startsWith(`${value}.`) || value.startsWith(`${one}.`));
    assert.deepEqual(
      [...known].filter((value) => !isPartOf(value)),
      [],
    );
  });

  it('accepts no unknown key', () => {
    const open = (one: Schema | undefined, at: string): string[] =>
      one?.properties
        ? [
            ...(one.additionalProperties === false ? [] : [at]),
            ...Object.entries(one.properties).flatMap(([key, each]) => open(resolve(each), `${at}.${key}`)),
          ]
        : [];
    assert.deepEqual(open(schema, 'values'), []);
  });

  it('has templates that read every value, and no other', () => {
    const files = globSync('templates/**/*', { cwd: chart }).filter((file) => /\.(yaml|tpl|txt)$/.test(file));
    const found = files.flatMap((file) => [...read(file).matchAll(/\.Values\.([\w.]+)/g)].map(([, name = '']) => name));
    const isOf = (value: string, other: string): boolean => value === other || value.startsWith(`${other}.`);
    const used = new Set(found);
    const values = chartValues().map(({ path: value }) => value);
    assert.deepEqual(
      [...used].filter((name) => !values.some((value) => isOf(value, name) || isOf(name, value))),
      [],
    );
    // Only parent charts read these.
    const unread = values.filter((value) => ![...used].some((name) => isOf(value, name)));
    assert.deepEqual(unread, ['enabled', 'global']);
  });
});
