import { agentRules } from '../conformance/agent/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** What an owner relies on most; full/ has the others, and `npm run test:cluster` runs them. */
const rules = quick(agentRules, [
  'one call of the owner replaces one pod',
  'cut off and without power',
  'a halted version is refused',
  'gives way to a deadline',
]);

runSuite('the agent, on the embedded cluster', startEmbeddedCluster, rules);
