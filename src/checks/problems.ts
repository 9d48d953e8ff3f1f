import { type AnalysisCheck, type PlanCheck, type PrometheusCheck, parseDuration } from '../rollout/index.ts';
import { parseAddress } from './address.ts';
import { compileCondition } from './condition.ts';
import { placeholderProblem } from './placeholders.ts';

const LEAST_INTERVAL_MS = 1000;

/** Of a Prometheus check, with the defaults of the schema. */
export const timesOf = ({
  interval = '1m',
  initialDelay = '0s',
}: PrometheusCheck): { intervalMs: number | undefined; initialDelayMs: number | undefined } => ({
  intervalMs: parseDuration(interval),
  initialDelayMs: parseDuration(initialDelay),
});

const ofPrometheus = (check: PrometheusCheck): string[] => {
  const problems: string[] = [];
  const add = (field: string, problem: string | undefined): void => {
    if (problem !== undefined) problems.push(`prometheus.${field} ${problem}`);
  };
  const address = check.address === undefined ? undefined : parseAddress(check.address);
  if (address && !address.ok) add('address', `cannot be used: ${address.problem}`);
  const placeholder = placeholderProblem(check.query);
  if (check.query.trim() === '') add('query', 'is empty: give one in PromQL');
  else if (placeholder !== undefined) add('query', `has an unknown placeholder: ${placeholder}`);
  const condition = compileCondition(check.condition);
  if (!condition.ok) add('condition', condition.problem);
  const { intervalMs, initialDelayMs } = timesOf(check);
  const notDuration = 'is not a duration of at most a year: set one such as 90s or 1h30m';
  if (intervalMs === undefined) add('interval', `"${check.interval}" ${notDuration}`);
  else if (intervalMs < LEAST_INTERVAL_MS) add('interval', `"${check.interval}" is too short: set at least 1s`);
  if (initialDelayMs === undefined) add('initialDelay', `"${check.initialDelay}" ${notDuration}`);
  const { failureLimit = 0 } = check;
  if (!Number.isInteger(failureLimit) || failureLimit < 0)
    add('failureLimit', `${failureLimit} is not a whole number from 0: set one`);
  return problems;
};

const ofAnalysis = ({ templateName, clusterTemplateName, args = [] }: AnalysisCheck): string[] => {
  const problems: string[] = [];
  if ((templateName === undefined) === (clusterTemplateName === undefined))
    problems.push('analysis needs one template: set either templateName or clusterTemplateName');
  for (const { name, value } of args) {
    const problem = placeholderProblem(value);
    if (problem !== undefined) problems.push(`analysis.args "${name}" has an unknown placeholder: ${problem}`);
  }
  return problems;
};

/** What is wrong with the check as it is written: each text names the field below the check, and the cure. */
export const checkProblems = ({ prometheus, analysis }: PlanCheck): string[] => {
  if ((prometheus === undefined) === (analysis === undefined))
    return ['asks nothing, or two things: set either prometheus or analysis'];
  if (prometheus) return ofPrometheus(prometheus);
  return analysis ? ofAnalysis(analysis) : [];
};
