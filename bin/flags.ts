// Node's flags for the shipped programs. Containerfile, bin/edgeset and the systemd unit name them too; a test compares.

/**
 * The agent rests nearly always, so it does not notice unoptimized code. `npm run bench -- agent-footprint` measures the
 * memory. `--lite-mode` and `--jitless` would save as much and disable WebAssembly, without which undici has no HTTP/1.1.
 */
export const AGENT_FLAGS = [
  '--max-semi-space-size=1',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  // The next collection drops code that ran once at startup; it is compiled again if it is needed.
  '--stress-flush-code',
  // Node's own heap snapshot would map 4 MiB to save a few milliseconds at startup.
  '--no-node-snapshot',
  '--expose-gc',
] as const;

/**
 * The manager runs for months. A young generation of a fixed size, and code that is compiled only when it is needed, keep
 * its memory small. One thread collects a heap this small sooner than five that wait for each other.
 * `npm run bench -- advanced-real` measures memory and CPU.
 */
export const MANAGER_FLAGS = [
  '--min-semi-space-size=4',
  '--max-semi-space-size=4',
  '--single-threaded-gc',
  '--optimize-for-size',
] as const;
