import { quick, runSuite } from '../conformance/kit/index.ts';
import { nativeRules } from '../conformance/native/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/**
 * The cases of each section that take only seconds and need no kubectl; full/ has all of them, and `npm run
 * test:embedded` runs those.
 */
const QUICK = [
  'auto and AdvancedRollingUpdate mean the same',
  'removing the annotation stops the rollout',
  'A to B to A is two rollouts',
  'a node with an untolerated taint',
  'nodeSelector and required node affinity',
  'they are skipped, reported separately',
  'Budget: 3 of 5 nodes is 3',
  'Budget: 0 freezes',
  'minReadySeconds counts as down',
  'a free slot is used soon',
  'crash-loop is a failure',
  'a fixed template repairs the nodes',
  'restores the template of the last complete revision',
  'one that failed is halted, and undone',
  'partition keeps that many nodes',
  'pausing stops the rollout midway',
  "the DaemonRollout has the DaemonSet's name",
  'report each step of a rollout once',
  'one DELETE per updated pod',
  'killed after reserving slots',
  'connections that are reset',
  'one ring follows the other',
  'the revision that was last complete opens all stages',
  'a stage that times out',
  'past midnight, a window belongs',
  'a refused delete does not block the others',
  'a node that is recreated under the same name',
  'an API server that restarts midway',
  'every pod gets one announcement per revision',
  'removing it while no manager runs',
  'one pod whose patch is refused does not block the rest',
  'halted for the others',
];

runSuite('native DaemonSets, on the embedded cluster', startEmbeddedCluster, quick(nativeRules, QUICK));
