// A real controller of Argo Rollouts, as far as AnalysisRuns go.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { eventually } from '../../support/index.ts';
import { type BuildOptions, buildOnce, dependencyDir } from '../controlplane/build.ts';
import { type Crd, installCrd } from '../controlplane/crd.ts';
import { type ControlPlane, freePort } from '../controlplane.ts';

// In the name of the cache's folder, which must not depend on where the repository is.
const FOLDER = '../argo-rollouts';
const MODULE = 'github.com/argoproj/argo-rollouts';

const sources = {
  'rollouts-controller': {
    module: FOLDER,
    main: `${MODULE}/cmd/rollouts-controller`,
    ldflags: '-s -w',
  },
} as const;

/** The controller, built once from its Go module. */
export const findArgoRollouts = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('argo-rollouts', sources, ['rollouts-controller'], options);

const crds = ['analysis-run', 'analysis-template', 'cluster-analysis-template'] as const;

/** Its CRDs come with its Go module. */
const readCrds = async (): Promise<Crd[]> => {
  const dir = join(await dependencyDir(FOLDER, MODULE), 'manifests', 'crds');
  return Promise.all(crds.map(async (name) => parse(await readFile(join(dir, `${name}-crd.yaml`), 'utf8')) as Crd));
};

export const installArgoRolloutsCrds = async (api: ControlPlane['api']): Promise<void> => {
  for (const crd of await readCrds()) await installCrd(api, crd);
};

/** Installs the CRDs and starts the controller as a process of the control plane; resolves when it runs. */
export const startArgoRollouts = async ({ api, dir, processes }: ControlPlane): Promise<void> => {
  const { 'rollouts-controller': file } = await findArgoRollouts();
  await installArgoRolloutsCrds(api);
  const [metrics, health] = [await freePort(), await freePort()];
  const program = await processes.start({
    name: 'rollouts-controller',
    file,
    args: [
      `--kubeconfig=${join(dir, 'admin.kubeconfig')}`,
      '--controllers=analysis',
      '--leader-elect=false',
      `--metricsport=${metrics}`,
      `--healthzPort=${health}`,
    ],
  });
  const isHealthy = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${health}/healthz`)).ok;
  await eventually('Argo Rollouts is healthy', isHealthy, { withinMs: 60_000, everyMs: 100 }).catch(async (cause) => {
    throw new Error(await program.log(), { cause });
  });
};
