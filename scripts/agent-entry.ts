// Where the bundled agent begins.

/**
 * What makes V8 thrifty; `npm run bench -- agent-footprint` measures it. The agent rests nearly always, so code that is
 * not optimized costs it nothing that anybody would notice. `--lite-mode` and `--jitless` would save as much and take
 * WebAssembly away, without which undici speaks no HTTP/1.1.
 */
const FLAGS = [
  '--max-semi-space-size=1',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  // What was run once at the start is forgotten at the next collection, and compiled again should it be needed.
  '--stress-flush-code',
  // Node's own heap image: 4 MiB of it would be mapped, against some milliseconds at the start.
  '--no-node-snapshot',
  '--expose-gc',
];

/** Starting leaves more behind than resting needs: it is given back once. */
const STARTED_MS = 4_000;

const thrifty = FLAGS.every((flag) => process.execArgv.includes(flag));
if (!thrifty && typeof process.execve === 'function') {
  const args = [process.execPath, ...process.execArgv, ...FLAGS, ...process.argv.slice(1)];
  // The same process goes on, whoever started it and with whichever flags. One arena: allocations of an idle process
  // do not compete.
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '1' });
}

const { agentMain } = await import('../src/cli/agent-main.ts');
const { processIo } = await import('../src/cli/io.ts');

setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), STARTED_MS).unref();

const code = await agentMain(process.argv.slice(2), processIo(Math.random));
// As in bin/edgeset.ts: a failure may leave work behind that would hold the process.
if (code === 0) process.exitCode = 0;
else process.exit(code);
