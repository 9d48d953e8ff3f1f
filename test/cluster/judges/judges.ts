import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse, parseAllDocuments } from 'yaml';
import { type BuildOptions, buildOnce } from '../controlplane/build.ts';

const ldflags = '-s -w';

const sources = {
  // `module` is in the name of the cache's folder, which must not depend on where the repository is.
  flux: { module: '../judges/flux', main: '.', ldflags },
  argocd: { module: '../judges/argocd', main: '.', ldflags },
  fleet: { module: '../judges/fleet', main: '.', ldflags },
  karmada: { module: '../judges/karmada', main: '.', ldflags },
} as const;

/** Programs that judge as Flux, Helm 4, Argo CD, Rancher Fleet and Karmada do, built once from these tools' own Go modules. */
export const findJudges = (options: BuildOptions = {}): Promise<Record<keyof typeof sources, string>> =>
  buildOnce('judges', sources, ['flux', 'argocd', 'fleet', 'karmada'], options);

export interface Verdicts {
  /** Of Flux and Helm 4, by their library kstatus: Current, InProgress, Failed. */
  kstatus: string;
  /** Of Flux with the expressions that we ship. */
  expressions?: string;
  /** Of Argo CD's own rule: Healthy, Progressing, Suspended, Degraded; none if it has no rule for the kind. */
  builtIn: Health;
  /** Of Argo CD's bundled health script, if it has one for the kind. */
  bundled?: Health;
  /** Of Argo CD with the script that we ship. */
  script?: Health;
  /** Of a BundleDeployment of Rancher Fleet with this object: Ready, Transitioning, Error. */
  fleet: string;
  /** Of Karmada's own rule: Healthy, Unhealthy; none if it has no rule for the kind. */
  karmada: string;
  /** Of Karmada with the customization that we ship. */
  karmadaShipped: string;
}

export interface Health {
  status: string;
  message?: string;
}

const deploy = resolve(import.meta.dirname, '../../../deploy');

const shipped = (name: string): Promise<string> => readFile(join(deploy, 'gitops', name), 'utf8');

const PREFIX = 'resource.customizations.health.';

/** The health scripts of Argo CD that we ship, by `group_Kind`. */
const healthScripts = async (): Promise<Record<string, string>> => {
  const { data } = parse(await shipped('argocd-cm.yaml')) as { data: Record<string, string> };
  return Object.fromEntries(Object.entries(data).map(([key, script]) => [key.slice(PREFIX.length), script]));
};

const healthCheckExpressions = async (): Promise<unknown> => {
  const { spec } = parse(await shipped('flux-health-checks.yaml')) as { spec: { healthCheckExprs: unknown } };
  return spec.healthCheckExprs;
};

/** The ResourceInterpreterCustomizations of Karmada that we ship. */
export const customizations = async (): Promise<object[]> => {
  const folder = join(deploy, 'multicluster/karmada');
  const texts = await Promise.all(
    (await readdir(folder)).toSorted().map((name) => readFile(join(folder, name), 'utf8')),
  );
  return texts.flatMap((manifests) => parseAllDocuments(manifests).map((document) => document.toJS() as object));
};

/** What `program` answers to `question`, both as JSON. */
export const ask = async <T>(program: string, question: object, args: readonly string[] = []): Promise<T> => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(question));
  const ended = new Promise<number | null>((done, failed) => child.on('error', failed).on('close', done));
  const [answer, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${error}`);
  return JSON.parse(answer) as T;
};

/** What each tool thinks of each object, as the API server serves it. */
export const judge = async (objects: readonly object[]): Promise<Verdicts[]> => {
  const programs = await findJudges();
  const [flux, argocd, fleet, karmada] = await Promise.all([
    ask<Pick<Verdicts, 'kstatus' | 'expressions'>[]>(programs.flux, {
      objects,
      expressions: await healthCheckExpressions(),
    }),
    ask<Pick<Verdicts, 'builtIn' | 'bundled' | 'script'>[]>(programs.argocd, {
      objects,
      scripts: await healthScripts(),
    }),
    ask<Pick<Verdicts, 'fleet'>[]>(programs.fleet, { objects }),
    ask<Pick<Verdicts, 'karmada' | 'karmadaShipped'>[]>(programs.karmada, {
      objects,
      customizations: await customizations(),
    }),
  ]);
  return objects.map((_, index) => ({
    ...(flux[index] as Verdicts),
    ...argocd[index],
    ...fleet[index],
    ...karmada[index],
  }));
};
