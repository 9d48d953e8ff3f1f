// The programs of Open Cluster Management, and its CRDs.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Api } from '../../api.ts';
import { type BuildOptions, buildOnce, dependencyDir } from '../../controlplane/build.ts';
import { type Crd, installCrd } from '../../controlplane/crd.ts';
import { ask } from '../../judges/judges.ts';

// In the name of the cache's folder, which must not depend on where the repository is.
const FOLDER = '../multicluster/ocm';
const MODULE = 'open-cluster-management.io/ocm';

const sources = { ocm: { module: FOLDER, main: '.', ldflags: '-s -w' } } as const;

/** Its controllers and its agent in one program, built once from its Go module. */
export const findOcm = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('ocm', sources, ['ocm'], options);

const crds = {
  hub: { folder: 'manifests/cluster-manager/hub/crds', wanted: /_(?:clusters|work)\.open-cluster-management\.io_/ },
  member: { folder: 'manifests/klusterlet/managed', wanted: /_appliedmanifestworks\.crd/ },
} as const;

/** Installs the CRDs that come with its Go module. */
export const installOcmCrds = async (api: Api, place: keyof typeof crds): Promise<void> => {
  const folder = join(await dependencyDir(FOLDER, MODULE), crds[place].folder);
  const files = (await readdir(folder)).filter((file) => crds[place].wanted.test(file));
  await Promise.all(
    files.map(async (file) => installCrd(api, parse(await readFile(join(folder, file), 'utf8')) as Crd)),
  );
};

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** What the work agent says of each object by these rules. */
export const conditionsBy = async (rules: readonly object[], objects: readonly object[]): Promise<Condition[][]> => {
  const { ocm } = await findOcm();
  return ask(ocm, { rules, objects }, ['conditions']);
};
