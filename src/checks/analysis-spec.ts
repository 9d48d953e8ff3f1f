import { type CallOptions, isKubeError, type KubeClient } from '../kube/index.ts';
import type { AnalysisCheck } from '../words/index.ts';
import {
  type AnalysisArgument,
  type AnalysisSpec,
  type AnalysisTemplate,
  analysisTemplates,
  clusterAnalysisTemplates,
} from './argo-rollouts.ts';
import { fillIn } from './placeholders.ts';
import type { CheckSubject, Problem } from './types.ts';

/** Why no AnalysisRun can be created; the message names the remedy. */
export class AnalysisError extends Error {
  override readonly name = 'AnalysisError';
  readonly code = 'UnusableAnalysis';
}

/** Templates may refer to others, and these to others again. */
const MAX_TEMPLATES = 50;

interface Reference {
  name: string;
  isCluster: boolean;
}

export const templateNameOf = ({ name, isCluster }: Reference, namespace: string): string =>
  isCluster ? `ClusterAnalysisTemplate ${name}` : `AnalysisTemplate ${namespace}/${name}`;

const readTemplate = (
  client: KubeClient,
  { name, isCluster }: Reference,
  namespace: string,
  call: CallOptions,
): Promise<AnalysisTemplate> =>
  isCluster
    ? client.get(clusterAnalysisTemplates, { name }, call)
    : client.get(analysisTemplates, { namespace, name }, call);

/** Why a plan can't use the template; undefined if it is there. What a check makes of it is not judged. */
export const templateProblem = async (
  client: KubeClient,
  template: Reference,
  namespace: string,
  call: CallOptions,
): Promise<Problem | undefined> => {
  try {
    await readTemplate(client, template, namespace, call);
    return undefined;
  } catch (error) {
    if (isKubeError(error, 'NotFound'))
      return error.details?.name === undefined
        ? {
            problem: 'needs Argo Rollouts, which is not installed',
            remedy: 'install its CRDs and its controller, or ask Prometheus instead',
          }
        : { problem: 'does not exist', remedy: 'create it' };
    if (isKubeError(error, 'Forbidden'))
      return {
        problem: 'may not be read by the manager',
        remedy: "set the chart's value checks.analysis.enabled, or apply deploy/checks/analysis.yaml",
      };
    throw error;
  }
};

/** What the API server said, as something that a user can remedy. Other failures are thrown as they are. */
export const explainRefusal = (error: unknown, what: string): never => {
  if (isKubeError(error, 'NotFound'))
    throw new AnalysisError(
      error.details?.name === undefined
        ? 'Argo Rollouts is not installed: install its CRDs and its controller, or ask Prometheus instead'
        : `${what} does not exist: create it`,
      { cause: error },
    );
  if (isKubeError(error, 'Forbidden', 'Invalid', 'BadRequest'))
    throw new AnalysisError(`${what}: ${error.message}`, { cause: error });
  throw error;
};

/** The template and all that it refers to, itself first. */
const readTemplates = async (
  client: KubeClient,
  namespace: string,
  first: Reference,
  signal: AbortSignal,
): Promise<AnalysisTemplate[]> => {
  const found = new Map<string, AnalysisTemplate>();
  const waiting = [first];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const what = templateNameOf(next, namespace);
    if (found.has(what)) continue;
    if (found.size === MAX_TEMPLATES)
      throw new AnalysisError(
        `${templateNameOf(first, namespace)} refers to more than ${MAX_TEMPLATES} templates: refer to fewer`,
      );
    const template = await readTemplate(client, next, namespace, { signal }).catch((error: unknown) =>
      explainRefusal(error, what),
    );
    found.set(what, template);
    for (const { templateName, clusterScope = false } of template.spec?.templates ?? [])
      if (templateName !== undefined) waiting.push({ name: templateName, isCluster: clusterScope });
  }
  return [...found.values()];
};

/** Arguments of several templates: the first value counts, and two different ones are a mistake. */
const mergeArguments = (templates: readonly AnalysisTemplate[]): Map<string, AnalysisArgument> => {
  const merged = new Map<string, AnalysisArgument>();
  for (const argument of templates.flatMap(({ spec }) => spec?.args ?? [])) {
    const { name, value } = argument;
    const before = merged.get(name);
    if (before?.value !== undefined && value !== undefined && before.value !== value)
      throw new AnalysisError(
        `the templates give the argument "${name}" two values, "${before.value}" and "${value}": keep one`,
      );
    if (before?.value === undefined) merged.set(name, argument);
  }
  return merged;
};

const requireUnique = (names: readonly string[]): void => {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AnalysisError(`the templates have two metrics named "${twice}": rename one`);
};

/**
 * The spec of an AnalysisRun made from the check's templates, as Argo Rollouts' own command and controller make it. Throws an
 * `AnalysisError`.
 */
export const analysisSpec = async (
  client: KubeClient,
  check: AnalysisCheck,
  subject: CheckSubject,
  signal: AbortSignal,
): Promise<AnalysisSpec> => {
  const { templateName, clusterTemplateName = '', args = [] } = check;
  const first = { name: templateName ?? clusterTemplateName, isCluster: templateName === undefined };
  const templates = await readTemplates(client, subject.namespace, first, signal);
  const name = templateNameOf(first, subject.namespace);
  const metrics = templates.flatMap(({ spec }) => spec?.metrics ?? []);
  if (metrics.length === 0) throw new AnalysisError(`${name} has no metrics: add one`);
  requireUnique(metrics.map((metric) => metric.name));
  // A run with such a metric continues until somebody stops it, so it would never say that the stage may be passed.
  const endless = metrics.find(({ interval, count }) => interval !== undefined && count === undefined);
  if (endless)
    throw new AnalysisError(`${name}: metric "${endless.name}" has an interval but no count, and so no end: set count`);
  const merged = mergeArguments(templates);
  for (const { name: argument, value } of args) {
    if (!merged.has(argument))
      throw new AnalysisError(
        `${name} has no argument "${argument}": remove it from analysis.args, or add it to the template`,
      );
    merged.set(argument, { name: argument, value: fillIn(value, subject) });
  }
  const missing = [...merged.values()].find(({ value, valueFrom }) => value === undefined && valueFrom === undefined);
  if (missing) throw new AnalysisError(`${name} needs the argument "${missing.name}": set it in analysis.args`);
  const dryRun = templates.flatMap(({ spec }) => spec?.dryRun ?? []);
  const measurementRetention = templates.flatMap(({ spec }) => spec?.measurementRetention ?? []);
  return {
    metrics,
    ...(merged.size > 0 && { args: [...merged.values()] }),
    ...(dryRun.length > 0 && { dryRun }),
    ...(measurementRetention.length > 0 && { measurementRetention }),
  };
};
