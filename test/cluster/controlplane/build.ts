import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from './lock.ts';

const run = promisify(execFile);

/** The versions of Kubernetes whose control plane can be built, each with the folder of its Go module. */
const KUBERNETES = {
  '1.34': { module: 'kubernetes', version: 'v1.34.4', mutatingPolicies: 'v1beta1' },
  '1.33': { module: 'kubernetes-1.33', version: 'v1.33.13', mutatingPolicies: 'v1alpha1' },
} as const;
type Minor = keyof typeof KUBERNETES;

/** The minor version that the embedded cluster imitates, and the one that suites run against by default. */
const DEFAULT_KUBERNETES: Minor = '1.34';

const isMinor = (minor: string): minor is Minor => Object.hasOwn(KUBERNETES, minor);

/** The minor version of the control plane: EDGESET_KUBERNETES, or the default. */
const minorOf = ({ EDGESET_KUBERNETES: minor }: NodeJS.ProcessEnv): Minor => {
  if (!minor) return DEFAULT_KUBERNETES;
  if (isMinor(minor)) return minor;
  throw new Error(`EDGESET_KUBERNETES is "${minor}": set it to one of ${Object.keys(KUBERNETES).join(', ')}`);
};

/** The version of the API group admissionregistration.k8s.io in which this control plane has MutatingAdmissionPolicies. */
export const mutatingPolicies = (): string => KUBERNETES[minorOf(process.env)].mutatingPolicies;

/** A program that is built from a Go module beside the tests. */
export interface Source {
  /** The module's folder, beside this file unless it is a path of its own. */
  module: string;
  main: string;
  ldflags: string;
}

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
export type Program = (typeof PROGRAMS)[number];

/** Without the stamp the programs call themselves v0.0.0, and clients that compare versions refuse them. */
const versionFlags = (minor: Minor): string => {
  const stamp = (package_: string): string =>
    [
      `-X ${package_}.gitVersion=${KUBERNETES[minor].version}`,
      `-X ${package_}.gitMajor=1`,
      `-X ${package_}.gitMinor=${minor.slice(2)}`,
    ].join(' ');
  return `-s -w ${stamp('k8s.io/component-base/version')} ${stamp('k8s.io/client-go/pkg/version')}`;
};

/** Linker flags of Kubernetes' programs in the default version. */
export const defaultVersionFlags = versionFlags(DEFAULT_KUBERNETES);

const sourcesOf = (minor: Minor): Record<Program, Source> => {
  const { module } = KUBERNETES[minor];
  const ldflags = versionFlags(minor);
  return {
    etcd: { module: 'etcd', main: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' },
    'kube-apiserver': { module, main: 'k8s.io/kubernetes/cmd/kube-apiserver', ldflags },
    'kube-controller-manager': { module, main: 'k8s.io/kubernetes/cmd/kube-controller-manager', ldflags },
    'kube-scheduler': { module, main: 'k8s.io/kubernetes/cmd/kube-scheduler', ldflags },
    kwok: { module: 'kwok', main: 'sigs.k8s.io/kwok/cmd/kwok', ldflags: '-s -w' },
  };
};

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

const moduleDir = (module: string): string => resolve(import.meta.dirname, module);

const go = async (module: string, args: string[], environment: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await run('go', args, {
    cwd: moduleDir(module),
    env: { CGO_ENABLED: '0', ...environment },
    maxBuffer: 1 << 26,
  });
  return stdout;
};

/**
 * The folder of a Go module that the module in the folder `module` needs. It also has files that aren't compiled, such as manifests.
 */
export const dependencyDir = async (module: string, dependency: string): Promise<string> => {
  const downloaded = await go(module, ['mod', 'download', '-json', dependency], process.env);
  return (JSON.parse(downloaded) as { Dir: string }).Dir;
};

// Everything that changes what a build yields: a folder of this name is never stale.
const digest = async (all: Readonly<Record<string, Source>>, environment: NodeJS.ProcessEnv): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify(all));
  const modules = new Set(Object.values(all).map(({ module }) => module));
  for (const module of modules) {
    hash.update(await readFile(join(moduleDir(module), 'go.mod')));
    // A module that needs no other has none.
    hash.update(await readFile(join(moduleDir(module), 'go.sum')).catch(() => ''));
    if (Object.values(all).some(({ main, module: of }) => main === '.' && of === module))
      hash.update(await readFile(join(moduleDir(module), 'main.go')));
    hash.update(await go(module, ['env', 'GOVERSION', 'GOOS', 'GOARCH', 'GOFLAGS'], environment));
  }
  return hash.digest('hex').slice(0, 16);
};

const stderrOf = (error: unknown): string =>
  error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : String(error);

const build = async (
  program: string,
  { module, main, ldflags }: Source,
  dir: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> => {
  const scratch = join(dir, `.build-${process.pid}-${program}`);
  try {
    // Nobody debugs them: without the tables for it, the compiler takes about a tenth less.
    await go(module, ['build', '-trimpath', '-gcflags=all=-dwarf=false', '-ldflags', ldflags, '-o', scratch, main], {
      ...environment,
      // The compiler trades memory for a quarter of its CPU time.
      GOGC: '800',
    });
    await rename(scratch, join(dir, program));
  } catch (cause) {
    await rm(scratch, { force: true });
    const remedy =
      `see the compiler's words above; without network, run it once with one or point KUBEBUILDER_ASSETS ` +
      `at a folder that holds ${PROGRAMS.join(', ')}`;
    throw new BuildError('BuildFailed', `building ${program} failed: ${stderrOf(cause)}\n${remedy}`, cause);
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
 * Rejects with a `BuildError` that names the remedy.
 */
export const findPrograms = async (options: BuildOptions = {}): Promise<Record<Program, string>> => {
  const { environment = process.env, report = (line) => process.stderr.write(`${line}\n`) } = options;
  const minor = minorOf(environment);
  const found = new Map<Program, string>();
  const assets = environment.KUBEBUILDER_ASSETS;
  if (assets) {
    for (const program of PROGRAMS) {
      const file = join(assets, program);
      if (await isExecutable(file)) found.set(program, file);
    }
  }
  const missing = PROGRAMS.filter((program) => !found.has(program));
  if (missing.length > 0) {
    const built = await buildOnce('controlplane', sourcesOf(minor), missing, { environment, report });
    for (const program of missing) found.set(program, built[program]);
  }
  return Object.fromEntries(found) as Record<Program, string>;
};

/** Paths of those of the programs that are `wanted`, each built once into the cache. `what` names their folder there. */
export const buildOnce = async <P extends string>(
  what: string,
  all: Readonly<Record<P, Source>>,
  wanted: readonly P[],
  { environment = process.env, report = (line) => process.stderr.write(`${line}\n`) }: BuildOptions,
): Promise<Record<P, string>> => {
  const dir = await cacheDir(what, all, wanted, environment);
  await mkdir(dir, { recursive: true });
  const absent = async (): Promise<P[]> => {
    const built = await Promise.all(wanted.map((program) => isExecutable(join(dir, program))));
    return wanted.filter((_, index) => !built[index]);
  };
  if ((await absent()).length > 0) {
    await withFileLock(join(dir, '.lock'), report, async () => {
      for (const program of await absent()) {
        report(`building ${program} into ${dir} (once; the control plane takes about six minutes on two cores)`);
        await build(program, all[program], dir, environment);
      }
    });
  }
  return Object.fromEntries(wanted.map((program) => [program, join(dir, program)])) as Record<P, string>;
};

const cacheDir = async (
  what: string,
  all: Readonly<Record<string, Source>>,
  missing: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string> => {
  const root = environment.XDG_CACHE_HOME || join(environment.HOME ?? homedir(), '.cache');
  try {
    return join(root, 'edgeset', `${what}-${await digest(all, environment)}`);
  } catch (cause) {
    throw new BuildError(
      'GoMissing',
      `${missing.join(', ')} must be built, and "go" does not run: install Go 1.24 or newer (https://go.dev/dl), ` +
        `or set KUBEBUILDER_ASSETS to a folder that holds ${PROGRAMS.join(', ')}`,
      cause,
    );
  }
};
