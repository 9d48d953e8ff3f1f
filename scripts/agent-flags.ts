/**
 * What makes V8 thrifty; `npm run bench -- agent-footprint` measures it. The agent rests nearly always, so code that is
 * not optimized costs it nothing that anybody would notice. `--lite-mode` and `--jitless` would save as much and take
 * WebAssembly away, without which undici speaks no HTTP/1.1.
 */
export const AGENT_FLAGS = [
  '--max-semi-space-size=1',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  // What was run once at the start is forgotten at the next collection, and compiled again should it be needed.
  '--stress-flush-code',
  // Node's own heap image: 4 MiB of it would be mapped, against some milliseconds at the start.
  '--no-node-snapshot',
  '--expose-gc',
] as const;
