import { type BuildOptions, buildOnce } from '../controlplane/build.ts';

const ldflags = (major: 3 | 4, version: string): string =>
  `-s -w -X helm.sh/helm/v${major}/internal/version.version=${version}`;

const sources = {
  // `module` is in the name of the cache's folder, which must not depend on where the repository is.
  helm: { module: '../helm/v4', main: 'helm.sh/helm/v4/cmd/helm', ldflags: ldflags(4, 'v4.3.1') },
  helm3: { module: '../helm/v3', main: 'helm.sh/helm/v3/cmd/helm', ldflags: ldflags(3, 'v3.22.0') },
} as const;

/** Helm 4 and Helm 3, built once from their Go modules. */
export const findHelm = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('helm', sources, ['helm', 'helm3'], options);
