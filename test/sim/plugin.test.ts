import { quick, runSuite } from '../conformance/kit/index.ts';
import { pluginRules } from '../conformance/plugin/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The cases of both kinds that take only seconds; full/ has all of them, and `npm run test:embedded` runs those. */
const QUICK = [
  'Advanced DaemonSets: plan and wait tell what a partition and a selector keep back',
  'Advanced DaemonSets: status lists both kinds, received apart',
  'undo while paused or under a partition changes the template alone',
  'plan, wait, pause and resume: pause stops, resume goes on',
];

runSuite('kubectl edgeset, on the embedded cluster', startEmbeddedCluster, quick(pluginRules, QUICK));
