import { runSuite } from '../conformance/kit/index.ts';
import { pluginRightsRules, pluginRules } from '../conformance/plugin/index.ts';
import { startCluster } from './index.ts';

runSuite('kubectl edgeset, on a real control plane', startCluster, [...pluginRules, ...pluginRightsRules]);
