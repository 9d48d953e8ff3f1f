import { type BuildOptions, buildOnce } from '../controlplane/build.ts';

const sources = { rules: { module: '../multicluster/rollout-rules', main: '.', ldflags: '-s -w' } } as const;

/** The program that decides on rollouts as Open Cluster Management does, built once from its own Go modules. */
export const findRolloutRules = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('rollout-rules', sources, ['rules'], options);
