import assert from 'node:assert/strict';
import { it } from 'node:test';
import { daemonRolloutCrd } from '../../src/words/index.ts';
import { page } from './documents.ts';

it('the reference describes each field of the status as its schema does', () => {
  const schema = daemonRolloutCrd.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status'];
  const fields = Object.entries(schema?.properties ?? {});
  assert.ok(fields.length > 0);
  const rows = fields.map(([name, { description }]) => `| \`${name}\` | ${description} |`).join('\n');
  assert.ok(page('rollout-object').includes(rows), `docs/reference/rollout-object.md needs these rows:\n${rows}`);
});
