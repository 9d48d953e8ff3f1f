import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from './lock.ts';

const run = promisify(execFile);

const kubernetesVersion = 'v1.34.4';
const stamp = (package_: string): string =>
  [`-X ${package_}.gitVersion=${kubernetesVersion}`, `-X ${package_}.gitMajor=1`, `-X ${package_}.gitMinor=34`].join(
    ' ',
  );
// Without the stamp the programs call themselves v0.0.0, and clients that compare versions refuse them.
const versionFlags = `-s -w ${stamp('k8s.io/component-base/version')} ${stamp('k8s.io/client-go/pkg/version')}`;

const sources = {
  etcd: { module: 'etcd', main: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' },
  'kube-apiserver': { module: 'kubernetes', main: 'k8s.io/kubernetes/cmd/kube-apiserver', ldflags: versionFlags },
  'kube-controller-manager': {
    module: 'kubernetes',
    main: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    ldflags: versionFlags,
  },
  'kube-scheduler': { module: 'kubernetes', main: 'k8s.io/kubernetes/cmd/kube-scheduler', ldflags: versionFlags },
  kwok: { module: 'kwok', main: 'sigs.k8s.io/kwok/cmd/kwok', ldflags: '-s -w' },
} as const;

export type Program = keyof typeof sources;
const programs = Object.keys(sources) as Program[];
const modules = ['etcd', 'kubernetes', 'kwok'] as const;

export class BuildError extends Error {
  readonly code: 'GoMissing' | 'BuildFailed';
  constructor(code: BuildError['code'], message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'BuildError';
    this.code = code;
  }
}

const isExecutable = async (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

const moduleDir = (module: string): string => join(import.meta.dirname, module);

const go = async (module: string, args: string[], environment: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await run('go', args, {
    cwd: moduleDir(module),
    env: { CGO_ENABLED: '0', ...environment },
    maxBuffer: 1 << 26,
  });
  return stdout;
};

// Everything that changes what a build yields: a folder of this name is never stale.
const digest = async (environment: NodeJS.ProcessEnv): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify(sources));
  for (const module of modules) {
    for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleDir(module), file)));
    hash.update(await go(module, ['env', 'GOVERSION', 'GOOS', 'GOARCH', 'GOFLAGS'], environment));
  }
  return hash.digest('hex').slice(0, 16);
};

const stderrOf = (error: unknown): string =>
  error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : String(error);

const build = async (program: Program, dir: string, environment: NodeJS.ProcessEnv): Promise<void> => {
  const { module, main, ldflags } = sources[program];
  const scratch = join(dir, `.build-${process.pid}-${program}`);
  try {
    await go(module, ['build', '-trimpath', '-ldflags', ldflags, '-o', scratch, main], environment);
    await rename(scratch, join(dir, program));
  } catch (cause) {
    await rm(scratch, { force: true });
    const cure =
      `see the compiler's words above; without network, run it once with one or point KUBEBUILDER_ASSETS ` +
      `at a folder that holds ${programs.join(', ')}`;
    throw new BuildError('BuildFailed', `building ${program} failed: ${stderrOf(cause)}\n${cure}`, cause);
  }
};

export interface BuildOptions {
  /** Default `process.env`; read: KUBEBUILDER_ASSETS, XDG_CACHE_HOME and what Go itself reads. */
  environment?: NodeJS.ProcessEnv;
  /** One line before each build, which may take minutes. Default: stderr. */
  report?: (line: string) => void;
}

/**
 * Paths of the control plane's programs. Takes them from `KUBEBUILDER_ASSETS` where they lie there; the rest is built
 * once from the Go modules beside this file into `$XDG_CACHE_HOME/edgeset` (default `~/.cache/edgeset`).
 * Rejects with a `BuildError` that names the cure.
 */
export const findPrograms = async (options: BuildOptions = {}): Promise<Record<Program, string>> => {
  const { environment = process.env, report = (line) => process.stderr.write(`${line}\n`) } = options;
  const found = new Map<Program, string>();
  const assets = environment.KUBEBUILDER_ASSETS;
  if (assets) {
    for (const program of programs) {
      const file = join(assets, program);
      if (await isExecutable(file)) found.set(program, file);
    }
  }
  const missing = programs.filter((program) => !found.has(program));
  if (missing.length > 0) {
    const dir = await cacheDir(environment, missing);
    await mkdir(dir, { recursive: true });
    const absent = async (): Promise<Program[]> => {
      const built = await Promise.all(missing.map((program) => isExecutable(join(dir, program))));
      return missing.filter((_, index) => !built[index]);
    };
    if ((await absent()).length > 0) {
      await withFileLock(join(dir, '.lock'), report, async () => {
        for (const program of await absent()) {
          report(`building ${program} into ${dir} (once; all five take about six minutes on two cores)`);
          await build(program, dir, environment);
        }
      });
    }
    for (const program of missing) found.set(program, join(dir, program));
  }
  return Object.fromEntries(found) as Record<Program, string>;
};

const cacheDir = async (environment: NodeJS.ProcessEnv, missing: Program[]): Promise<string> => {
  const root = environment.XDG_CACHE_HOME || join(environment.HOME ?? homedir(), '.cache');
  try {
    return join(root, 'edgeset', `controlplane-${await digest(environment)}`);
  } catch (cause) {
    throw new BuildError(
      'GoMissing',
      `${missing.join(', ')} must be built, and "go" does not run: install Go 1.24 or newer (https://go.dev/dl), ` +
        `or set KUBEBUILDER_ASSETS to a folder that holds ${programs.join(', ')}`,
      cause,
    );
  }
};
