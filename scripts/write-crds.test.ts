import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { daemonRolloutCrd } from '../src/rollout/api/crd.ts';
import { crdFiles } from './write-crds.ts';

const folder = path.join(import.meta.dirname, '..', 'deploy', 'crds');
const remedy = 'run: npm run generate';

it('deploy/crds holds what the code says', () => {
  for (const [file, content] of crdFiles()) assert.equal(readFileSync(file, 'utf8'), content, remedy);
});

it('reads back as the constant that it was written from', () => {
  const file = path.join(folder, 'edgeset.io_daemonrollouts.yaml');
  assert.deepEqual(parse(readFileSync(file, 'utf8')), daemonRolloutCrd);
});

it('writes every file whose header says so', () => {
  const written = [...crdFiles().keys()].map((file) => path.basename(file));
  const present = readdirSync(folder).filter((name) =>
    readFileSync(path.join(folder, name), 'utf8').startsWith('# Written by scripts/write-crds.ts'),
  );
  assert.deepEqual(present.toSorted(), written.toSorted(), remedy);
});
