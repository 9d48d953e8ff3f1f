// Where the bundled agent begins.

import { AGENT_FLAGS } from './agent-flags.ts';

/** Starting leaves more behind than resting needs: it is given back once. */
const STARTED_MS = 4_000;

const thrifty = AGENT_FLAGS.every((flag) => process.execArgv.includes(flag));
if (!thrifty && typeof process.execve === 'function') {
  const args = [process.execPath, ...process.execArgv, ...AGENT_FLAGS, ...process.argv.slice(1)];
  // The same process goes on, whoever started it; starting it with the flags saves it the second start. One arena:
  // allocations of an idle process do not compete.
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '1' });
}

const { agentMain } = await import('../src/cli/agent.ts');
const { processIo } = await import('../src/cli/io.ts');

setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), STARTED_MS).unref();

const code = await agentMain(process.argv.slice(2), processIo(Math.random));
// As in bin/edgeset.ts: a failure may leave work behind that would hold the process.
if (code === 0) process.exitCode = 0;
else process.exit(code);
