import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPeerOwners } from './peer-owner.ts';
import { rowKeys, type SocketRow } from './socket-table.ts';

const local = { address: '127.0.0.1', port: 10_267 };
const remote = { address: '127.0.0.1', port: 40_000 };
const INODE = 77;
const [peerKey = ''] = rowKeys(remote, local);
const [ownKey = ''] = rowKeys(local, remote);

const peer = (row: Partial<SocketRow> = {}): [string, SocketRow] => [
  peerKey,
  { established: true, uid: 1000, inode: 5, ...row },
];
const own = (row: Partial<SocketRow> = {}): [string, SocketRow] => [
  ownKey,
  { established: true, uid: 0, inode: INODE, ...row },
];

/** The content of the table in successive scans; the last one repeats. */
const ask = async (...readings: [string, SocketRow][][]): Promise<number | undefined> => {
  let at = 0;
  const owners = createPeerOwners(
    async (keys, visit) => {
      const reading = readings[Math.min(at, readings.length - 1)] ?? [];
      at += 1;
      for (const [key, row] of reading) if (keys.has(key)) visit(key, row);
    },
    () => assert.fail('nothing failed'),
  );
  return owners.owner({ local, remote, inode: INODE });
};

describe('the user of the peer', () => {
  it('is known when both ends are established', async () => assert.equal(await ask([peer(), own()]), 1000));
  it('is known in any order of the two ends in the table', async () => assert.equal(await ask([own(), peer()]), 1000));
  it('is found by a later scan if a row was missed', async () => {
    assert.equal(await ask([own()], [peer()], [own()]), 1000);
  });
  it('is in doubt in TIME_WAIT, where the row shows root', async () =>
    assert.equal(await ask([peer({ established: false, uid: 0, inode: 0 }), own()]), undefined));
  it('is in doubt if only the state is not established', async () =>
    assert.equal(await ask([peer({ established: false, uid: 0 }), own()]), undefined));
  it('is in doubt when no process holds the socket', async () =>
    assert.equal(await ask([peer({ uid: 0, inode: 0 }), own()]), undefined));
  it('is in doubt without a row', async () => assert.equal(await ask([own()]), undefined));
  it('is in doubt if our end is closed', async () =>
    assert.equal(await ask([peer({ uid: 0 }), own({ established: false })]), undefined));
  it('is in doubt if a later connection uses the ports', async () =>
    assert.equal(await ask([peer({ uid: 0 }), own({ inode: INODE + 1 })]), undefined));
  it('requires that our end is seen after the peer, because the ports may have been reused in between', async () => {
    assert.equal(await ask([own(), peer({ uid: 0 })], [peer({ uid: 0 })]), undefined);
  });
  it('is in doubt if the tables cannot be read, and reports that', async () => {
    const errors: unknown[] = [];
    const owners = createPeerOwners(
      () => Promise.reject(new Error('denied')),
      (error) => errors.push(error),
    );
    assert.equal(await owners.owner({ local, remote, inode: INODE }), undefined);
    assert.equal(errors.length, 1);
  });
  it('is in doubt for a remote connection', async () => {
    const owners = createPeerOwners(
      async () => undefined,
      () => undefined,
    );
    const far = { address: '10.1.2.3', port: 5 };
    assert.equal(await owners.owner({ local, remote: far, inode: INODE }), undefined);
  });
  it('many concurrent lookups cost two scans, of which the second starts after all of them', async () => {
    let readings = 0;
    const owners = createPeerOwners(
      async (_keys, visit) => {
        readings += 1;
        await Promise.resolve();
        for (const [key, row] of [peer(), own()]) visit(key, row);
      },
      () => undefined,
    );
    const answers = await Promise.all(Array.from({ length: 50 }, () => owners.owner({ local, remote, inode: INODE })));
    assert.deepEqual(new Set(answers), new Set([1000]));
    assert.equal(readings, 2);
  });
});
