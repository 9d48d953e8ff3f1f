import { runSuite } from '../../conformance/kit/index.ts';
import { nativeRules } from '../../conformance/native/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('native DaemonSets, on the embedded cluster', startEmbeddedCluster, nativeRules);
