import { advancedRules } from '../conformance/advanced/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The cases of each section that take only seconds; full/ has all of them, and `npm run test:embedded` runs those. */
const QUICK = [
  'pods are created, and replaced node by node',
  'pods are changed in place, and stay what they are',
  'new pods come beside old ones with a surge',
  'a pod with a hook goes when its controller lets it go',
  'a DaemonSet that is deleted goes once each pod was let go',
  'pods of nodes that stop being eligible go one by one',
  'let go by the next, and its node gets another',
  'maxUnavailable 2 of 4 nodes',
  'nodes that the partition leaves out count',
  'a version that is crash-loop is halted',
  'is lowered step by step as a canary',
  'an old pod that is not available gets a new one first',
  'the strategy may change midway, to a surge and back',
  'the image of a sidecar',
  'a version that crashes is halted, and the next one mends it in place',
  'one call of the owner is an approval',
  'going back to an earlier template uses its revision again',
];

runSuite('Advanced DaemonSets, on the embedded cluster', startEmbeddedCluster, quick(advancedRules, QUICK));
