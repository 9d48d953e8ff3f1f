// Entry point of the bundled agent.

import { exit } from './exit.ts';
import { AGENT_FLAGS } from './flags.ts';

/** By then the agent has started; one collection returns the memory that only the start needed. */
const AFTER_START_MS = 4_000;

const hasFlags = AGENT_FLAGS.every((flag) => process.execArgv.includes(flag));
if (!hasFlags && typeof process.execve === 'function') {
  const args = [process.execPath, ...process.execArgv, ...AGENT_FLAGS, ...process.argv.slice(1)];
  // Keeps the process ID, so that supervisors don't notice. Starting it with the flags avoids the second start. One malloc
  // arena: allocations of an idle process don't compete.
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '1' });
}

const { agentMain } = await import('../src/cli/agent.ts');
const { processIo } = await import('../src/cli/io.ts');

setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), AFTER_START_MS).unref();

exit(await agentMain(process.argv.slice(2), processIo(Math.random)));
