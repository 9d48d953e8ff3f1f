import { join } from 'node:path';
import { runClient } from '../index.ts';
import { findHelm } from './programs.ts';

export const root = join(import.meta.dirname, '..', '..', '..');
export const chart = join(root, 'charts', 'edgeset');

/** Where the guide installs the chart. */
export const release = { name: 'edgeset', namespace: 'edgeset-system' } as const;

export type HelmProgram = keyof Awaited<ReturnType<typeof findHelm>>;
export type Helm = (...args: string[]) => Promise<string>;

/** Runs Helm; rejects with its error output when it fails. */
export const createHelm = async (kubeconfig: string, program: HelmProgram = 'helm'): Promise<Helm> => {
  const { [program]: file } = await findHelm();
  return (...args) => runClient(file, kubeconfig, args);
};
