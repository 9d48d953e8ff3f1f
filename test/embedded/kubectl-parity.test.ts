import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { commands } from './parity/commands.ts';
import { normalize } from './parity/normalize.ts';
import { type Command, type ParityServer, startEmbeddedServer, startRealServer } from './parity/servers.ts';

const lineOf = (command: Command): string => (typeof command === 'string' ? command : command[0]);

describe('kubectl output matches a real API server', { timeout: 600_000 }, () => {
  let servers: readonly [real: ParityServer, embedded: ParityServer];

  before(async () => {
    servers = await Promise.all([startRealServer(), startEmbeddedServer()]);
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  for (const [index, command] of commands.entries()) {
    it(`${index}: kubectl ${lineOf(command)}`, async () => {
      const [line, stdin] = typeof command === 'string' ? [command, ''] : command;
      const [real, embedded] = await Promise.all(servers.map((server) => server.kubectl(line, stdin)));
      assert.ok(real && embedded);
      assert.deepEqual(normalize(embedded), normalize(real));
    });
  }
});
