import { type BuildOptions, buildOnce, defaultVersionFlags } from '../cluster/controlplane/build.ts';

const sources = {
  // `module` is in the name of the cache's folder, which must not depend on where the repository is.
  kubelet: { module: '../../nodes/kubelet', main: 'k8s.io/kubernetes/cmd/kubelet', ldflags: defaultVersionFlags },
} as const;
const images = { app: { module: '../../nodes/app', main: '.', ldflags: '-s -w' } } as const;

/** The kubelet and the program of the test images, each built once from its Go module. */
export const findNodePrograms = async (options: BuildOptions = {}): Promise<{ kubelet: string; app: string }> => ({
  ...(await buildOnce('kubelet', sources, ['kubelet'], options)),
  ...(await buildOnce('app', images, ['app'], options)),
});
