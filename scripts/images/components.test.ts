import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { components, ENVIRONMENT, entrypointOf } from './components.ts';

const text = readFileSync(path.join(import.meta.dirname, '../../Containerfile'), 'utf8');

/** The instructions of a stage, as pairs of name and rest. */
const stage = (name: string): [string, string][] => {
  const body = text.split(/^(?=FROM )/m).find((each) => each.split('\n', 1)[0]?.endsWith(` AS ${name}`));
  assert.ok(body, `Containerfile has no stage ${name}`);
  return [...body.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, instruction = '', rest = '']) => [instruction, rest]);
};

describe('Containerfile', () => {
  for (const component of components)
    it(`describes the same image of the ${component.name}`, () => {
      const all = stage(component.name);
      const of = (wanted: string) => all.filter(([instruction]) => instruction === wanted).map(([, rest]) => rest);
      assert.deepEqual(of('COPY'), ['--from=build /images/base /', `--from=build /images/${component.name} /`]);
      assert.deepEqual(of('USER'), [`${component.uid}:${component.uid}`]);
      assert.deepEqual(
        of('ENV'),
        Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      );
      assert.deepEqual(JSON.parse(of('ENTRYPOINT').join()), entrypointOf(component));
      assert.deepEqual(JSON.parse(of('CMD').join() || '[]'), component.command);
    });

  it('builds on an image that is given by its digest, and ships nothing of it', () => {
    assert.match(text, /^ARG BUILDER=\S+@sha256:[0-9a-f]{64}$/m);
    const bases = [...text.matchAll(/^FROM (.+) AS (\S+)$/gm)].map(([, from, name]) => [name, from]);
    assert.deepEqual(Object.fromEntries(bases), {
      build: '--platform=$BUILDPLATFORM ${BUILDER}',
      ...Object.fromEntries(components.map(({ name }) => [name, 'scratch'])),
    });
  });
});
