import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chart, createHelm, release } from '../cluster/helm/helm.ts';
import { runClient } from '../cluster/index.ts';
import { shippedCommands } from '../cluster/shipped.ts';
import { readArchive } from './archive.ts';
import type { NodeCluster } from './cluster.ts';

const TAG = 'test';
/** The same image under the tag of another release. */
export const NEXT_TAG = 'next';
/** Where the chart puts the manager. */
export const { namespace } = release;

/** The product as an operator installs it: images in a registry, the chart, the kubectl plugin. */
export const installProduct = async ({ registry, kubeconfig }: NodeCluster, values: readonly string[]) => {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  for (const name of ['manager', 'agent']) {
    const archive = join(tmpdir(), 'images', `edgeset-${name}_linux_${architecture}.tar`);
    const image = readArchive(archive);
    for (const tag of [TAG, NEXT_TAG]) registry.add(`edgeset/${name}`, tag, image);
  }
  const helm = await createHelm(kubeconfig);
  const set = (all: readonly string[]): string[] =>
    ['image.registry=registry.test', `image.tag=${TAG}`, ...all].flatMap((value) => ['--set', value]);
  const where = ['--namespace', namespace, '--wait', '--timeout=90s'];
  await helm('install', release.name, chart, '--create-namespace', ...where, ...set(values));
  return {
    upgrade: (...changed: string[]) => helm('upgrade', release.name, chart, ...where, ...set([...values, ...changed])),
    /** `kubectl edgeset ARGS` */
    plugin: async (...args: string[]) =>
      runClient(process.execPath, kubeconfig, [join(await shippedCommands(), 'kubectl-edgeset'), ...args]),
  };
};
export type Product = Awaited<ReturnType<typeof installProduct>>;

/** What every case works on. */
export interface Site {
  cluster: NodeCluster;
  product: Product;
}
