import assert from 'node:assert/strict';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { whyNoRoom } from './disk-space.ts';

describe('whyNoRoom', () => {
  it('compares the free space with the margin', async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    const free = bavail * bsize;
    assert.equal(await whyNoRoom(tmpdir(), { bytes: free / 2, share: 0 }), undefined);
    assert.match((await whyNoRoom(tmpdir(), { bytes: free * 2, share: 0 })) ?? '', /^only \d+ MiB of \d+ MiB are free/);
    assert.match((await whyNoRoom(tmpdir(), { bytes: 0, share: 1 })) ?? '', /must stay free/);
  });

  it('uses the nearest existing parent folder, and allows the pull without one', async () => {
    assert.match((await whyNoRoom('/no/such/folder', { bytes: 0, share: 2 })) ?? '', /must stay free/);
    assert.equal(await whyNoRoom('/dev/null/folder', { bytes: 0, share: 2 }), undefined);
  });
});
