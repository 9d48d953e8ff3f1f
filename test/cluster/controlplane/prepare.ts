// Builds the programs of the real control plane, the kubelet, Helm, Argo Rollouts, OpenKruise Rollouts, Open Cluster Management and
// its rules by themselves, and the programs that judge as GitOps tools and engines of many clusters do, where they are missing, ahead
// of the tests that need them:
//   node test/cluster/controlplane/prepare.ts
// Go compiles once what modules share in the same versions. These pairs do: Helm 3 and 4, Fleet and Karmada, kwok and Flux.

import { findNodePrograms } from '../../nodes/programs.ts';
import { findArgoRollouts } from '../argo-rollouts/argo-rollouts.ts';
import { findHelm } from '../helm/programs.ts';
import { findArgoRollout } from '../judges/argocd-rollout.ts';
import { findJudges } from '../judges/judges.ts';
import { findOcm } from '../multicluster/ocm/ocm.ts';
import { findRolloutRules } from '../multicluster/rollout-rules.ts';
import { findOpenKruiseRollouts } from '../openkruise-rollouts/openkruise-rollouts.ts';
import { findPrograms } from './build.ts';

const groups = [
  await findPrograms(),
  await findJudges(),
  { argocd: await findArgoRollout() },
  await findHelm(),
  await findNodePrograms(),
  await findArgoRollouts(),
  await findOpenKruiseRollouts(),
  await findRolloutRules(),
  await findOcm(),
];
console.log(groups.flatMap((programs) => Object.values(programs)).join('\n'));
