import { type PolicyError, parseDuration } from '../rollout/index.ts';
import type { AnalysisCheck, PlanCheck, PrometheusCheck } from '../words/index.ts';
import { parseAddress, shownAddress } from './address.ts';
import { compileCondition } from './condition.ts';
import { placeholderProblem } from './placeholders.ts';
import type { Problem } from './types.ts';

const LEAST_INTERVAL_MS = 1000;

/** Of a Prometheus check, with the defaults of the schema. */
export const timesOf = ({
  interval = '1m',
  initialDelay = '0s',
}: PrometheusCheck): { intervalMs: number | undefined; initialDelayMs: number | undefined } => ({
  intervalMs: parseDuration(interval),
  initialDelayMs: parseDuration(initialDelay),
});

const ofPrometheus = (check: PrometheusCheck): PolicyError[] => {
  const errors: PolicyError[] = [];
  const add = (field: string, value: string, found: Problem | undefined): void => {
    if (found) errors.push({ field: `prometheus.${field}`, value, problem: found.problem, remedy: found.remedy });
  };
  const { address = '', query, interval = '1m', initialDelay = '0s', failureLimit = 0 } = check;
  const parsed = check.address === undefined ? undefined : parseAddress(address);
  if (parsed && !parsed.ok) add('address', shownAddress(address), parsed);
  if (query.trim() === '') add('query', query, { problem: 'is empty', remedy: 'give one in PromQL' });
  else add('query', query, placeholderProblem(query));
  const condition = compileCondition(check.condition);
  if (!condition.ok) add('condition', check.condition, condition);
  const { intervalMs, initialDelayMs } = timesOf(check);
  const notDuration = { problem: 'is not a duration of at most a year', remedy: 'set one such as 90s or 1h30m' };
  if (intervalMs === undefined) add('interval', interval, notDuration);
  else if (intervalMs < LEAST_INTERVAL_MS)
    add('interval', interval, { problem: 'is too short', remedy: 'set at least 1s' });
  if (initialDelayMs === undefined) add('initialDelay', initialDelay, notDuration);
  if (!Number.isInteger(failureLimit) || failureLimit < 0)
    add('failureLimit', String(failureLimit), { problem: 'is not a whole number from 0', remedy: 'set one' });
  return errors;
};

const ofAnalysis = ({ templateName, clusterTemplateName, args = [] }: AnalysisCheck): PolicyError[] => {
  const errors: PolicyError[] = [];
  if ((templateName === undefined) === (clusterTemplateName === undefined))
    errors.push({
      field: 'analysis',
      value: [templateName, clusterTemplateName].filter((name) => name !== undefined).join(', '),
      problem: 'needs one template',
      remedy: 'set either templateName or clusterTemplateName',
    });
  for (const [index, { value }] of args.entries()) {
    const found = placeholderProblem(value);
    if (found)
      errors.push({ field: `analysis.args[${index}].value`, value, problem: found.problem, remedy: found.remedy });
  }
  return errors;
};

/** What is wrong with the check itself, in any cluster. Fields are below the check. */
export const checkProblems = ({ name, prometheus, analysis }: PlanCheck): PolicyError[] => {
  if ((prometheus === undefined) === (analysis === undefined))
    return [
      {
        field: 'name',
        value: name,
        problem: 'asks nothing, or two things',
        remedy: 'set either prometheus or analysis',
      },
    ];
  if (prometheus) return ofPrometheus(prometheus);
  return analysis ? ofAnalysis(analysis) : [];
};
