import { runSuite } from '../../conformance/kit/index.ts';
import { prefetchRules } from '../../conformance/prefetch/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('images pulled ahead, on the embedded cluster', startEmbeddedCluster, prefetchRules);
