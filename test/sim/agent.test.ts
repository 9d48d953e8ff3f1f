import { agentRules } from '../conformance/agent/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The most important cases; full/ has all of them, and `npm run test:embedded` runs those. */
const rules = quick(agentRules, [
  'one call of the owner replaces one pod',
  'cut off and without power',
  'a halted version is refused',
  'gives way to a deadline',
]);

runSuite('the agent, on the embedded cluster', startEmbeddedCluster, rules);
