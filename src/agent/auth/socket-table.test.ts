import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { endianness } from 'node:os';
import { describe, it } from 'node:test';
import { isLoopback, rowKeys, type SocketRow, scanKernelSockets, scanText } from './socket-table.ts';

const onLittleEndian = { skip: endianness() !== 'LE' };

describe('the socket table', () => {
  it('builds keys in the format of the kernel', onLittleEndian, () => {
    const to = { address: '127.0.0.1', port: 10_267 };
    const from = { address: '127.0.0.1', port: 40_000 };
    const mapped = '0000000000000000FFFF00000100007F';
    const keys = ['0100007F:9C40 0100007F:281B', `${mapped}:9C40 ${mapped}:281B`];
    assert.deepEqual(rowKeys(from, to), keys);
    assert.deepEqual(rowKeys({ ...from, address: '::ffff:127.0.0.1' }, to), keys);
    const v6 = '00000000000000000000000001000000';
    assert.deepEqual(rowKeys({ address: '::1', port: 1 }, { address: '::1', port: 2 }), [`${v6}:0001 ${v6}:0002`]);
  });

  it('has no key for a remote connection', () => {
    assert.deepEqual(rowKeys({ address: '10.0.0.7', port: 1 }, { address: '127.0.0.1', port: 2 }), []);
    assert.deepEqual(rowKeys({ address: '127.0.0.1', port: 1 }, { address: '::ffff:10.0.0.7', port: 2 }), []);
  });

  for (const [address, wanted] of [
    ['127.0.0.1', true],
    ['127.200.1.9', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['::2', false],
    ['127.0.0.1.example.org', false],
  ] as const)
    it(`${address} ${wanted ? 'is' : 'is not'} loopback`, () => assert.equal(isLoopback(address), wanted));

  it('reads state, owner and inode, and skips other rows and malformed lines', () => {
    const text = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:281B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0',
      '   1: 0100007F:9C40 0100007F:281B 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0',
      '   2: 0100007F:9C41 0100007F:281B 06 00000000:00000000 03:00000B1D 00000000     0        0 0 3 0',
      '12345: 0100007F:9C42 0100007F:281B 01 00000000:000000',
      'nonsense',
    ].join('\n');
    const seen: [string, SocketRow][] = [];
    const key = (port: string): string => `0100007F:${port} 0100007F:281B`;
    scanText(text, new Set([key('9C40'), key('9C41'), key('9C42')]), (found, row) => seen.push([found, row]));
    assert.deepEqual(seen, [
      [key('9C40'), { established: true, uid: 1000, inode: 4711 }],
      [key('9C41'), { established: false, uid: 0, inode: 0 }],
    ]);
  });

  for (const [listen, call] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
  ] as const)
    it(`finds both ends of a connection to ${call} at a socket on ${listen}`, async (t) => {
      const server = createServer();
      t.after(() => server.close());
      await new Promise<void>((resolve) => server.listen(0, listen, resolve));
      const bound = server.address();
      assert.ok(typeof bound === 'object' && bound !== null);
      const client = connect(bound.port, call);
      t.after(() => client.destroy());
      await new Promise((resolve) => client.once('connect', resolve));
      const local = { address: client.localAddress ?? '', port: client.localPort ?? 0 };
      const remote = { address: client.remoteAddress ?? '', port: client.remotePort ?? 0 };
      const [peer, own] = [rowKeys(local, remote), rowKeys(remote, local)];
      const rows = new Map<string, SocketRow>();
      await scanKernelSockets(new Set([...peer, ...own]), (key, row) => rows.set(key, row));
      const uid = process.getuid?.();
      for (const keys of [peer, own]) {
        const row = keys.map((key) => rows.get(key)).find((each) => each !== undefined);
        assert.equal(row?.established, true);
        assert.equal(row?.uid, uid);
        assert.ok((row?.inode ?? 0) > 0);
      }
    });
});
