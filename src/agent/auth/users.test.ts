import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { resolveUsers } from './users.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-users-'));
after(() => rmSync(folder, { recursive: true }));
const passwd = path.join(folder, 'passwd');
writeFileSync(passwd, 'root:x:0:0:::/bin/sh\nkiosk:x:1001:1001:::/bin/sh\nbad:x::\nnobody:x:65534:65534:::\n');

describe('allowed users', () => {
  it('are uids or names from the password file', () => {
    assert.deepEqual(resolveUsers('--allow-user', ['root', 'kiosk', '1234'], passwd), new Set([0, 1001, 1234]));
  });
  it('include root without a password file', () => {
    assert.deepEqual(resolveUsers('--allow-user', ['root'], '/nonexistent'), new Set([0]));
  });
  for (const [user, remedy] of [
    ['ghost', /give a uid/],
    ['bad', /give a uid/],
    ['-1', /give a uid/],
    ['99999999999', /not a uid/],
    ['nobody', /its own uid/],
    ['65534', /its own uid/],
  ] as const)
    it(`refuses ${user}`, () =>
      assert.throws(() => resolveUsers('--allow-user', [user], passwd), { code: 'InvalidOption', message: remedy }));
});
