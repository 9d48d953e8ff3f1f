import {
  annotation,
  type IntOrString,
  type PlanCheck,
  type PlanStage,
  REST_STAGE,
  type RolloutPlanSpec,
} from '../../words/index.ts';
import { isLabelKey } from '../facts/requirement.ts';
import { fromLabelSelector, selectsNodes } from '../facts/selector.ts';
import { count, type IntOrPercent, parseIntOrPercent } from '../policy/int-or-percent.ts';
import type { BusyNodes, Calendar, Plan, Predecessor, Stage } from '../policy/plan-terms.ts';
import { type ParsedPolicy, validatedPolicy } from '../policy/policy.ts';
import { formatPlanName, type PolicyError, parseDuration } from '../policy/values.ts';
import { parseDate } from './calendar.ts';
import { isTimeZone } from './window.ts';

/** Reads fields of a spec. What the schema would refuse is reported: an older CRD may have let it pass. */
const createFields = (errors: PolicyError[]) => {
  const refuse = (field: string, value: unknown, problem: string, remedy: string): undefined => {
    errors.push({ field, value: String(value), problem, remedy });
    return undefined;
  };
  return {
    refuse,
    share: (field: string, value: IntOrString): IntOrPercent => {
      const parsed = parseIntOrPercent(String(value));
      if (parsed && (parsed.kind === 'int' || parsed.value <= 100)) return parsed;
      refuse(
        field,
        value,
        'is neither a whole number nor a percentage of at most 100%',
        'set a value such as 3 or 10%',
      );
      return count(0);
    },
    duration: (field: string, value: string): number => {
      const ms = parseDuration(value);
      return (
        ms ?? refuse(field, value, 'is not a duration of at most a year', 'set a duration such as 90s or 1h30m') ?? 0
      );
    },
  };
};
type Fields = ReturnType<typeof createFields>;

const parseStage = (
  { name, nodes, promote = {}, ...stage }: PlanStage,
  checks: ReadonlyMap<string, PlanCheck>,
  at: string,
  { refuse, share, duration }: Fields,
): Stage => {
  const selector = nodes?.selector && selectsNodes(fromLabelSelector(nodes.selector));
  if (selector && !selector.ok)
    refuse(`${at}.nodes.selector`, JSON.stringify(nodes?.selector), selector.problem, selector.remedy);
  if (promote.onTimeout === 'promote' && promote.timeout === undefined)
    refuse(`${at}.promote.onTimeout`, 'promote', 'has no timeout', 'set promote.timeout');
  const { coverage = '100%', minNodes = 1, soak = '0s', timeout } = promote;
  return {
    name,
    selector: selector?.ok ? selector.selector : undefined,
    count: nodes?.count === undefined ? undefined : share(`${at}.nodes.count`, nodes.count),
    maxUnavailable:
      stage.maxUnavailable === undefined ? undefined : share(`${at}.maxUnavailable`, stage.maxUnavailable),
    failureThreshold:
      stage.failureThreshold === undefined ? undefined : share(`${at}.failureThreshold`, stage.failureThreshold),
    coverage: share(`${at}.promote.coverage`, coverage),
    minNodes,
    soakMs: duration(`${at}.promote.soak`, soak),
    checks: (promote.checks ?? []).flatMap((check) => {
      const found = checks.get(check);
      if (!found)
        refuse(`${at}.promote.checks`, check, 'is not among spec.checks', 'name one of them, or add it there');
      return found ? [found] : [];
    }),
    needsApproval: promote.approval?.required ?? false,
    timeoutMs: timeout === undefined ? undefined : duration(`${at}.promote.timeout`, timeout),
    promotesOnTimeout: promote.onTimeout === 'promote',
  };
};

const parseStages = (spec: RolloutPlanSpec, fields: Fields): Stage[] => {
  const { stages = [] } = spec;
  const checks = new Map(spec.checks?.map((check) => [check.name, check]));
  const parsed = stages.map((stage, index) => parseStage(stage, checks, `spec.stages[${index}]`, fields));
  const names = new Set<string>([REST_STAGE]);
  for (const { name } of parsed) {
    if (names.has(name))
      fields.refuse('spec.stages[].name', name, 'is the name of another stage', 'give each stage its own name');
    names.add(name);
  }
  return parsed.length > 0 ? [...parsed, parseStage({ name: REST_STAGE }, checks, 'spec.stages', fields)] : [];
};

const parseCalendar = ({ windows = [], freezes = [] }: RolloutPlanSpec, { refuse }: Fields): Calendar => {
  for (const [index, { timeZone }] of windows.entries())
    if (timeZone !== undefined && timeZone !== 'node' && !isTimeZone(timeZone))
      refuse(
        `spec.windows[${index}].timeZone`,
        timeZone,
        'is not a time zone',
        'set an IANA name such as Europe/Berlin, or node',
      );
  return {
    windows,
    freezes: freezes.flatMap(({ from, to, reason }, index) => {
      const [start, end] = [parseDate(from), parseDate(to)];
      if (start === undefined || end === undefined || start >= end) {
        const remedy = 'set from and to as RFC 3339 dates or times, from before to';
        refuse(`spec.freezes[${index}]`, `${from} to ${to}`, 'is not a period', remedy);
        return [];
      }
      return [{ from: start, to: end, ...(reason !== undefined && { reason }) }];
    }),
  };
};

const parseBusy = ({ skipNodes }: RolloutPlanSpec, { refuse }: Fields): BusyNodes | undefined => {
  if (!skipNodes) return undefined;
  const selector = skipNodes.selector && selectsNodes(fromLabelSelector(skipNodes.selector));
  if (selector && !selector.ok)
    refuse('spec.skipNodes.selector', JSON.stringify(skipNodes.selector), selector.problem, selector.remedy);
  const { taints = [], conditions = [] } = skipNodes;
  for (const key of taints)
    if (!isLabelKey(key))
      refuse('spec.skipNodes.taints', key, 'is not the key of a taint', 'set a key such as example.com/job');
  // A Ready node is one that may be updated: to go by that would skip all, or none.
  if (conditions.includes('Ready'))
    refuse('spec.skipNodes.conditions', 'Ready', 'is what all nodes have that are updated', 'name another condition');
  if (!selector && taints.length === 0 && conditions.length === 0)
    refuse('spec.skipNodes', '', 'skips no node', 'set at least one of selector, taints and conditions');
  return {
    selector: selector?.ok ? selector.selector : undefined,
    taints: new Set(taints),
    conditions: new Set(conditions),
  };
};

/** What a cluster has under the name of a plan; undefined: nothing. `errors`: what only others can judge, such as its checks. */
export type FoundPlan = { spec: RolloutPlanSpec; errors?: readonly PolicyError[] } | undefined;

/** The DaemonSets that a plan names in `after`, as it is written: also of one that is invalid. */
export const predecessorsIn = ({ after = [] }: RolloutPlanSpec): Predecessor[] =>
  after.map(({ apiGroup = 'apps', name, scope = 'Node' }) => ({ apiGroup, name, scope }));

interface ParsedPlan {
  plan: Plan;
  errors: readonly PolicyError[];
}

/** Of plans that many DaemonSets name, which share its calendar, too. */
const parsedPlans = new WeakMap<RolloutPlanSpec, ParsedPlan>();

const parsePlan = (spec: RolloutPlanSpec): ParsedPlan => {
  const before = parsedPlans.get(spec);
  if (before) return before;
  const errors: PolicyError[] = [];
  const fields = createFields(errors);
  const plan: Plan = {
    spec,
    stages: parseStages(spec, fields),
    calendar: parseCalendar(spec, fields),
    windowsOnRollback: spec.windowsOnRollback ?? false,
    groups: (spec.maxUnavailablePer ?? []).map(({ topologyKey, value }, index) => ({
      topologyKey,
      value: fields.share(`spec.maxUnavailablePer[${index}].value`, value),
    })),
    after: predecessorsIn(spec),
    busy: parseBusy(spec, fields),
  };
  const parsed = { plan, errors };
  parsedPlans.set(spec, parsed);
  return parsed;
};

/**
 * The policy with the plan that it names. A plan that is missing or invalid makes the whole policy invalid, which holds the
 * rollout. `find` is asked only if a plan is named.
 */
export const withPlan = (
  parsed: Exclude<ParsedPolicy, { kind: 'off' }>,
  find: (name: NonNullable<(typeof parsed)['policy']['rolloutPlan']>) => FoundPlan,
): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const { policy, warnings } = parsed;
  const name = policy.rolloutPlan;
  if (!name) return parsed;
  const errors = parsed.kind === 'invalid' ? [...parsed.errors] : [];
  const value = formatPlanName(name);
  const found = find(name);
  const read = found && parsePlan(found.spec);
  const problems: PolicyError[] = [...(found?.errors ?? []), ...(read?.errors ?? [])];
  if (!found) {
    const kind = name.cluster ? 'ClusterRolloutPlan' : 'RolloutPlan';
    const remedy = `create the ${kind} ${name.name}, or remove the annotation`;
    errors.push({ field: annotation.rolloutPlan, value, problem: 'names a plan that does not exist', remedy });
  }
  errors.push(...problems.map((problem) => ({ ...problem, field: `${value}: ${problem.field}` })));
  return validatedPolicy({ ...policy, plan: problems.length === 0 ? read?.plan : undefined }, errors, [...warnings]);
};

/** The policy without a plan by which DaemonSets would wait for each other; `cycle`: their names, the first one twice. */
export const withoutCycle = (
  parsed: Exclude<ParsedPolicy, { kind: 'off' }>,
  cycle: readonly string[] | undefined,
): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const { policy, warnings } = parsed;
  if (!cycle || !policy.rolloutPlan) return parsed;
  const error = {
    field: `${formatPlanName(policy.rolloutPlan)}: spec.after`,
    value: cycle.join(' after '),
    problem: 'is a cycle in which each DaemonSet waits for the next',
    remedy: 'remove one of them from after',
  };
  const errors = parsed.kind === 'invalid' ? [...parsed.errors, error] : [error];
  return validatedPolicy({ ...policy, plan: undefined }, errors, [...warnings]);
};
