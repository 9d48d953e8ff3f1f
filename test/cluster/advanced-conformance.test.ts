import { advancedRules } from '../conformance/advanced/index.ts';
import { runSuite } from '../conformance/kit/index.ts';
import { startCluster } from './index.ts';

runSuite('Advanced DaemonSets, on a real control plane', startCluster, advancedRules);
