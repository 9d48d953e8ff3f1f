// Runs a command of this repository under the Node that its lockfile pins, installing dependencies first when they are
// missing or stale:  node scripts/run.mjs <script.ts> [arguments]
//
// This file and toolchain.mjs are what a bare clone starts with: plain JavaScript for Node 18, no dependencies. This
// one must even parse on older Nodes, so that they get a sentence instead of a syntax error.

const OLDEST_BOOTSTRAP_NODE = 18;

const main = async () => {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_BOOTSTRAP_NODE) {
    throw new Error(
      `Node ${process.versions.node} is too old to set edgeset up: put Node ${OLDEST_BOOTSTRAP_NODE} or newer on PATH ` +
        '(the commands themselves then run under the version that package-lock.json pins).',
    );
  }
  const { ensureInstalled, runUnderPinnedNode } = await import('./toolchain.mjs');
  await ensureInstalled();
  if (process.argv.length > 2) runUnderPinnedNode(process.argv.slice(2));
};

main().catch((error) => {
  process.stderr.write(`edgeset: ${error.message}\n`);
  process.exitCode = 1;
});
