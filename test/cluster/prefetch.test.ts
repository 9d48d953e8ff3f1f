import { runSuite } from '../conformance/kit/index.ts';
import { aheadRules, prefetchRules } from '../conformance/prefetch/index.ts';
import { startCluster } from './index.ts';

runSuite('images pulled ahead, on a real control plane', startCluster, [
  ...prefetchRules,
  ...aheadRules('native'),
  ...aheadRules('advanced'),
]);
