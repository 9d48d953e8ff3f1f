import assert from 'node:assert/strict';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { whyNoRoom } from './disk-space.ts';

describe('the room for another image', () => {
  it('is what the disk has beyond the margin', async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    const free = bavail * bsize;
    assert.equal(await whyNoRoom(tmpdir(), { bytes: free / 2, share: 0 }), undefined);
    assert.match((await whyNoRoom(tmpdir(), { bytes: free * 2, share: 0 })) ?? '', /^only \d+ MiB of \d+ MiB are free/);
    assert.match((await whyNoRoom(tmpdir(), { bytes: 0, share: 1 })) ?? '', /must stay free/);
  });

  it('is that of the disk above a folder which only the runtime sees, and not in question without any', async () => {
    assert.match((await whyNoRoom('/no/such/folder', { bytes: 0, share: 2 })) ?? '', /must stay free/);
    assert.equal(await whyNoRoom('/dev/null/folder', { bytes: 0, share: 2 }), undefined);
  });
});
