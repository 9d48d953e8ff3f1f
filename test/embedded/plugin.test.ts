import { quick, runSuite } from '../conformance/kit/index.ts';
import { pluginRules } from '../conformance/plugin/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The cases of both kinds that take only seconds; full/ has all of them, and `npm run test:embedded` runs those. */
const QUICK = [
  'get, of Advanced DaemonSets: -w follows updates in place',
  'Advanced DaemonSets: plan and wait say what a partition and a selector hold back',
  'Advanced DaemonSets: status lists both kinds distinctly',
  'undo while paused or under a partition changes only the template',
  'plan, wait, pause and resume: pause stops, resume continues',
];

runSuite('kubectl edgeset, on the embedded cluster', startEmbeddedCluster, quick(pluginRules, QUICK));
