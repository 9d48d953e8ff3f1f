import { runSuite } from '../../conformance/kit/index.ts';
import { aheadRules, prefetchRules } from '../../conformance/prefetch/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('images pulled ahead, on the embedded cluster', startEmbeddedCluster, [
  ...prefetchRules,
  ...aheadRules('native'),
  ...aheadRules('advanced'),
]);
