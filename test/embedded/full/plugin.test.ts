import { runSuite } from '../../conformance/kit/index.ts';
import { pluginRules } from '../../conformance/plugin/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('kubectl edgeset, on the embedded cluster', startEmbeddedCluster, pluginRules);
