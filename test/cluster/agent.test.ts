import { agentRules } from '../conformance/agent/index.ts';
import { runSuite } from '../conformance/kit/index.ts';
import { startCluster } from './index.ts';

runSuite('the agent, on a real control plane', startCluster, agentRules);
