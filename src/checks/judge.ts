import type { PolicyError } from '../rollout/index.ts';
import type { PlanCheck, PrometheusCheck, RolloutPlanSpec } from '../words/index.ts';
import { type AddressRules, chooseAddress, shownAddress } from './address.ts';
import { checkProblems } from './problems.ts';

/** An object that a check needs: a Secret, and for what, or a template of Argo Rollouts. */
export interface CheckNeed {
  /** Of the plan's spec. */
  field: string;
  /** Undefined: that of the DaemonSet. */
  namespace: string | undefined;
  name: string;
  what: 'credentials' | 'authority' | 'template' | 'clusterTemplate';
}

/** Checks that no stage names are never asked: which server they would ask doesn't matter. */
const askedBy = ({ stages = [], checks = [] }: RolloutPlanSpec): { at: string; check: PlanCheck }[] => {
  const named = new Set(stages.flatMap(({ promote }) => promote?.checks ?? []));
  return checks.flatMap((check, index) => (named.has(check.name) ? [{ at: `spec.checks[${index}]`, check }] : []));
};

const unaskable = (check: PrometheusCheck, at: string, cluster: boolean, rules: AddressRules): PolicyError[] => {
  const { address = '', tls } = check;
  const chosen = chooseAddress(check.address, cluster, rules);
  if (!chosen.ok) {
    const { problem, remedy } = chosen;
    return [{ field: `${at}.prometheus.address`, value: shownAddress(address), problem, remedy }];
  }
  if (!tls || chosen.address.origin.startsWith('https:')) return [];
  const remedy = 'set an address with https, or remove tls';
  return [
    { field: `${at}.prometheus.tls`, value: chosen.address.origin, problem: 'is for an address without TLS', remedy },
  ];
};

/**
 * What is wrong with the checks of a plan. `rules`: which servers the manager may ask; without them, only what the plan says is judged,
 * because nobody else knows the manager's flags.
 */
export const planErrors = (spec: RolloutPlanSpec, cluster: boolean, rules?: AddressRules): PolicyError[] => {
  const written = (spec.checks ?? []).flatMap((check, index) =>
    checkProblems(check).map((error) => ({ ...error, field: `spec.checks[${index}].${error.field}` })),
  );
  if (written.length > 0 || !rules) return written;
  return askedBy(spec).flatMap(({ at, check }) =>
    check.prometheus ? unaskable(check.prometheus, at, cluster, rules) : [],
  );
};

/** What the checks of a plan need; `namespace`: where its Secrets are. */
export const checkNeeds = (spec: RolloutPlanSpec, namespace: string): CheckNeed[] =>
  askedBy(spec).flatMap(({ at, check }) => {
    const { credentials, tls } = check.prometheus ?? {};
    const { templateName, clusterTemplateName } = check.analysis ?? {};
    const need = (field: string, name: string | undefined, what: CheckNeed['what'], where?: string): CheckNeed[] =>
      name === undefined ? [] : [{ field: `${at}.${field}`, namespace: where, name, what }];
    return [
      ...need('prometheus.credentials.secretName', credentials?.secretName, 'credentials', namespace),
      ...need('prometheus.tls.caSecretName', tls?.caSecretName, 'authority', namespace),
      ...need('analysis.templateName', templateName, 'template'),
      ...need('analysis.clusterTemplateName', clusterTemplateName, 'clusterTemplate'),
    ];
  });
