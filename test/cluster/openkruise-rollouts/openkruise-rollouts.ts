// A real manager of OpenKruise Rollouts, with its webhooks. It steers Advanced DaemonSets by their partition.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { eventually } from '../../support/index.ts';
import type { Json } from '../api.ts';
import { type BuildOptions, buildOnce, dependencyDir } from '../controlplane/build.ts';
import { type Crd, installCrd } from '../controlplane/crd.ts';
import { type ControlPlane, freePort } from '../controlplane.ts';
import type { Program } from '../processes.ts';

// In the name of the cache's folder, which must not depend on where the repository is.
const FOLDER = '../openkruise-rollouts';
const MODULE = 'github.com/openkruise/rollouts';

const sources = {
  'kruise-rollout': { module: FOLDER, main: MODULE, ldflags: '-s -w' },
} as const;

/** The manager, built once from its Go module. */
export const findOpenKruiseRollouts = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('openkruise-rollouts', sources, ['kruise-rollout'], options);

interface Manifest extends Json {
  kind: string;
  metadata: { name: string };
}

const crds = ['rollouts', 'batchreleases', 'rollouthistories', 'trafficroutings'] as const;

const installCrds = async ({ api }: ControlPlane, config: string): Promise<void> => {
  for (const plural of crds) {
    const file = join(config, 'crd', 'bases', `rollouts.kruise.io_${plural}.yaml`);
    await installCrd(api, parse(await readFile(file, 'utf8')) as Crd);
  }
};

interface WebhookConfiguration extends Manifest {
  webhooks: { name: string; objectSelector?: unknown }[];
}

/** Installs both configurations under the names by which the manager looks for them; it fills in address and certificate. */
const installWebhooks = async ({ api }: ControlPlane, config: string): Promise<void> => {
  const read = async (file: string): Promise<WebhookConfiguration[]> =>
    parseAllDocuments(await readFile(join(config, 'webhook', file), 'utf8')).map(
      (document) => document.toJS() as WebhookConfiguration,
    );
  // As its kustomization patches them: only workloads that a Rollout has labelled.
  const patches = (await read('patch_manifests.yaml')).flatMap(({ webhooks }) => webhooks);
  for (const configuration of await read('manifests.yaml')) {
    const name = `kruise-rollout-${configuration.metadata.name}`;
    const plural = `${configuration.kind.toLowerCase()}s`;
    await api.apply(`/apis/admissionregistration.k8s.io/v1/${plural}/${name}`, {
      ...configuration,
      metadata: { name },
      webhooks: configuration.webhooks.map((each) => ({ ...each, ...patches.find((one) => one.name === each.name) })),
    });
  }
};

/**
 * Installs CRDs and webhooks, and starts the manager as a process of the control plane; resolves when it runs. A CRD that is
 * installed later is unknown to it.
 */
export const startOpenKruiseRollouts = async (plane: ControlPlane): Promise<Program> => {
  const { 'kruise-rollout': file } = await findOpenKruiseRollouts();
  // Its manifests come with its Go module.
  const config = join(await dependencyDir(FOLDER, MODULE), 'config');
  await installCrds(plane, config);
  await installWebhooks(plane, config);
  const [health, webhook] = [await freePort(), await freePort()];
  const program = await plane.processes.start({
    name: 'kruise-rollout',
    file,
    args: [
      `--kubeconfig=${join(plane.dir, 'admin.kubeconfig')}`,
      '--metrics-bind-address=0',
      `--health-probe-bind-address=127.0.0.1:${health}`,
    ],
    env: {
      ...process.env,
      // With a host it signs a certificate for it and has the API server call that instead of a Service.
      WEBHOOK_HOST: '127.0.0.1',
      WEBHOOK_PORT: String(webhook),
      WEBHOOK_CERT_DIR: join(plane.dir, 'kruise-rollout-certificates'),
    },
  });
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok;
  await eventually('OpenKruise Rollouts is ready', isReady, { withinMs: 120_000, everyMs: 100 }).catch(
    async (cause) => {
      throw new Error(await program.log(), { cause });
    },
  );
  return program;
};
