import { agentRules } from '../../conformance/agent/index.ts';
import { runSuite } from '../../conformance/kit/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

runSuite('the agent, on the embedded cluster', startEmbeddedCluster, agentRules);
