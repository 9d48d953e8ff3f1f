import { availableParallelism } from 'node:os';

export interface Suite {
  files: readonly string[];
  /** Processes that run test files at the same time. */
  concurrency: number;
  /** Most files share a process with their neighbors. These take longest: they start first, each in its own process. */
  longest?: readonly string[];
  /** Conformance cases of a file that run at the same time, unless EDGESET_TEST_CASES is set. Default 6. */
  cases?: number;
}

const cores = availableParallelism();
const half = Math.max(1, Math.floor(cores / 2));

/** By the name that `scripts/test.ts` takes. Each test file belongs to one of them. */
export const suites: Readonly<Record<string, Suite>> = {
  unit: {
    files: [
      '{src,embedded}/**/*.test.ts',
      'scripts/**/*.test.ts',
      'web/**/*.test.ts',
      'bench/**/*.test.ts',
      'test/{agent,as-shipped,deploy,hostile-text}/**/*.test.ts',
      'test/embedded/{advanced,advanced-api,advanced-pods,agent,conformance,guides,oracle,plans,plugin}.test.ts',
      'test/{invariants,judge,simulation,stories,support}/**/*.test.ts',
    ],
    // The longest wait for clusters on a real clock most of the time.
    concurrency: 2 * cores,
    longest: [
      'test/simulation/known/known.test.ts',
      'test/embedded/conformance.test.ts',
      'src/cli/demo/run.test.ts',
      'test/embedded/guides.test.ts',
      'test/embedded/advanced.test.ts',
      'test/stories/stories.test.ts',
      'src/agent/agent.test.ts',
      'test/agent/hostile/hostile.test.ts',
      'test/hostile-text/index.test.ts',
      'test/embedded/plugin.test.ts',
      'test/embedded/agent.test.ts',
      'src/cli/plugin/wait.test.ts',
      'src/cli/manager.test.ts',
      'test/simulation/same-history.test.ts',
      'scripts/bundle.test.ts',
    ],
  },
  cluster: {
    files: [
      'test/cluster/**/*.test.ts',
      'test/chaos/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/images/**/*.test.ts',
      'test/embedded/*-parity.test.ts',
    ],
    // A file keeps little more than half of a core busy: its cases wait for kubelets, back-offs and timeouts.
    concurrency: cores + half,
    // With more of them the machine is busy all the time, which makes each slower and the whole no faster.
    cases: 5,
  },
  // The cases of the cluster tier on the embedded cluster; the unit suite has a selection of them.
  embedded: { files: ['test/embedded/full/**/*.test.ts'], concurrency: half },
  // The package of npm, installed and run outside of the checkout.
  package: { files: ['test/package/**/*.test.ts'], concurrency: half },
  // One Chromium a file.
  browser: { files: ['test/browser/**/*.test.ts'], concurrency: half },
  // By test/nodes/run.ts, which gives it its own namespaces.
  nodes: { files: ['test/nodes/**/*.test.ts'], concurrency: 1 },
};
