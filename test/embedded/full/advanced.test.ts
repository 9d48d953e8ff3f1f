import { advancedRules } from '../../conformance/advanced/index.ts';
import { runSuite } from '../../conformance/kit/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('Advanced DaemonSets, on the embedded cluster', startEmbeddedCluster, advancedRules);
