import { advancedRules } from '../conformance/advanced/index.ts';
import { quick, runSuite } from '../conformance/kit/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/** The cases of each section that take only seconds; full/ has all of them, and `npm run test:embedded` runs those. */
const QUICK = [
  'pods are created, and replaced node by node',
  'pods are updated in place and keep their identity',
  'a surge creates new pods beside old ones',
  'pods are updated in place ring by ring',
  'a pod with a preDelete hook is deleted once its controller releases it',
  'a DaemonSet that is deleted is gone once each pod was released',
  'pods of nodes that cease to be eligible are removed',
  'released by the next one, and its node gets another pod',
  'maxUnavailable 2 of 4 nodes',
  'nodes that the partition leaves out count',
  'a version that is crash-loop is halted',
  'is lowered step by step as a canary',
  'a node with an unavailable old pod is updated first',
  'the strategy can change midway, to a surge and back',
  'the image of a sidecar',
  'a version that crashes is halted, and the next one repairs it in place',
  'one request of the owner approves',
  'going back to an earlier template uses its revision again',
];

runSuite('Advanced DaemonSets, on the embedded cluster', startEmbeddedCluster, quick(advancedRules, QUICK));
