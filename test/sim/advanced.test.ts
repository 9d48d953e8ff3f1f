import { advancedRules } from '../conformance/advanced/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** Of each section what takes no more than seconds; full/ has them all, and `npm run test:cluster` runs it. */
const QUICK = [
  'pods are created, and replaced node by node',
  'pods are changed in place, and stay what they are',
  'new pods come beside old ones with a surge',
  'a pod with a hook goes when its controller lets it go',
];

runSuite('Advanced DaemonSets, on the embedded cluster', startEmbeddedCluster, quick(advancedRules, QUICK));
