import { agentRules } from '../conformance/agent/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The most important cases; full/ has all of them, and `npm run test:embedded` runs those. */
const rules = quick(agentRules, [
  'one request of the owner replaces one pod',
  'offline and after a power cut',
  'a halted version is refused',
  'is overridden by a deadline',
]);

runSuite('the agent, on the embedded cluster', startEmbeddedCluster, rules);
