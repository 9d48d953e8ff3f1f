#!/usr/bin/env node
// `edgeset` of the npm package. The manager and the agent are programs of their own, which run as they run in images and on
// devices: with flags of Node that keep their memory small.

import path from 'node:path';
import { exit } from './exit.ts';
import { AGENT_FLAGS, MANAGER_FLAGS } from './flags.ts';
import { loadInstalled } from './load-program.ts';

const [name, ...args] = process.argv.slice(2);
const flags = name === 'manager' ? MANAGER_FLAGS : name === 'agent' ? AGENT_FLAGS : undefined;

// Keeps the process ID. Windows has no execve, and runs them here.
if (flags && typeof process.execve === 'function') {
  const program = path.join(import.meta.dirname, '..', `${name}`, `edgeset-${name}.mjs`);
  // One malloc arena, because one thread allocates.
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...flags, program, `${name}`, ...args], env);
}

const { main, processIo } = loadInstalled();
exit(await main(process.argv.slice(2), processIo(Math.random)));
