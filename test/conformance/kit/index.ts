export type { Case, CaseOptions, Status } from './case.ts';
export type { CaseKind } from './kinds.ts';
export { leaderElectionArgs, leaderElectionArgsFor, leaderOf, leadershipLossLogs } from './leader-election.ts';
export { type Annotations, budgetKey, type PodView, type Shape, strategyKey } from './objects.ts';
export { untilQuiet, writesSince } from './quiet.ts';
export { createProbePod, type PodRefusal, refusePods, untilRefused } from './refuse-pods.ts';
export { quick, type Rule, runSuite, section } from './suite.ts';
export { nginxManifest, workers } from './tutorial.ts';
export { assertVerdict, type Verdict } from './verdict.ts';
