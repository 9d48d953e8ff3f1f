import { runSuite } from '../conformance/kit/index.ts';
import { nativeRules } from '../conformance/native/index.ts';
import { startCluster } from './index.ts';

runSuite('native DaemonSets, on a real control plane', startCluster, nativeRules);
