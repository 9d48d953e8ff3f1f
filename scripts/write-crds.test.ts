import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { daemonRolloutCrd, planCrds } from '../src/words/index.ts';
import { crdFiles } from './write-crds.ts';

const folders = ['deploy/crds', 'charts/edgeset/files/crds'].map((each) => path.join(import.meta.dirname, '..', each));
const remedy = 'run: npm run generate';

it('the files hold what the code says', () => {
  for (const [file, content] of crdFiles()) assert.equal(readFileSync(file, 'utf8'), content, remedy);
});

it('reads back as the constant that it was written from', () => {
  for (const folder of folders) {
    for (const crd of [daemonRolloutCrd, ...planCrds]) {
      const file = path.join(folder, `edgeset.io_${crd.spec.names.plural}.yaml`);
      assert.deepEqual(parse(readFileSync(file, 'utf8')), crd);
    }
  }
});

it('writes every file whose header says so', () => {
  const present = folders
    .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
    .filter((file) => readFileSync(file, 'utf8').startsWith('# Written by scripts/write-crds.ts'));
  assert.deepEqual(present.toSorted(), [...crdFiles().keys()].toSorted(), remedy);
});
