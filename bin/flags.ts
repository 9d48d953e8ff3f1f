// Node's flags for the shipped programs. The images take them from here; Containerfile, bin/edgeset and the systemd unit name
// them too, and tests compare.

/** Without it, SIGUSR1 opens the inspector, and a user who can signal the process can run code in it. */
const NO_INSPECTOR = '--disable-sigusr1';

/**
 * The agent rests nearly always, so it does not notice unoptimized code. `npm run bench -- agent-footprint` measures the
 * memory. `--lite-mode` and `--jitless` would save as much.
 */
export const AGENT_FLAGS = [
  '--max-semi-space-size=1',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  // The next collection drops code that ran once at startup; it is compiled again if it is needed.
  '--stress-flush-code',
  // Node's own heap snapshot would save 40 ms at startup, and 5 MiB of it would stay resident.
  '--no-node-snapshot',
  '--expose-gc',
  NO_INSPECTOR,
] as const;

/**
 * The manager runs for months. A small young generation keeps its memory small: `--optimize-for-size` collects it after each
 * MiB, whatever the flags before it say. One thread collects a heap this small sooner than five that wait for each other.
 * `npm run bench -- advanced-real` measures memory and CPU.
 */
export const MANAGER_FLAGS = [
  '--min-semi-space-size=4',
  '--max-semi-space-size=4',
  '--single-threaded-gc',
  '--optimize-for-size',
  NO_INSPECTOR,
] as const;

/** The dashboard serves pages and runs commands for months: as with the manager, memory counts for more than speed. */
export const DASHBOARD_FLAGS = ['--max-semi-space-size=8', '--optimize-for-size', NO_INSPECTOR] as const;
