import { quick, runSuite } from '../conformance/kit/index.ts';
import { nativeRules } from '../conformance/native/index.ts';
import { startEmbeddedCluster } from './cluster.ts';

/**
 * The cases of each section that take only seconds and need no kubectl; full/ has all of them, and `npm run
 * test:embedded` runs those.
 */
const QUICK = [
  'auto and AdvancedRollingUpdate mean the same',
  'removing the annotation stops the rollout at once',
  'A to B to A is two rollouts',
  'a node whose taint is not tolerated',
  'nodeSelector and required node affinity',
  'they are skipped and reported apart',
  'Budget: 3 of 5 nodes is 3',
  'Budget: 0 freezes',
  'minReadySeconds counts as down',
  'a free slot is used soon',
  'crash-loop is a failure',
  'a fixed template repairs the nodes',
  'puts the template of the last complete revision back',
  'partition leaves so many nodes',
  'paused stops midway',
  'a rollout object named like the DaemonSet',
  'tell a rollout once',
  'one DELETE per updated pod',
  'killed once it has reserved slots',
  'connections that are reset',
  'a refused delete does not stop the others',
  'a node that is deleted and made again',
  'an API server that restarts midway',
  'every pod is told once a revision',
  'removing it while no manager runs',
  'one pod that refuses does not stop the rest',
  'halted for the others',
];

runSuite('native DaemonSets, on the embedded cluster', startEmbeddedCluster, quick(nativeRules, QUICK));
