import type { PlanCheck, PolicyError, PrometheusCheck, RolloutPlanSpec } from '../rollout/index.ts';
import { type AddressRules, chooseAddress, shownAddress } from './address.ts';
import { checkProblems } from './problems.ts';

/** A Secret that a check needs, and for what. */
export interface SecretUse {
  /** Of the plan's spec. */
  field: string;
  namespace: string;
  name: string;
  what: 'credentials' | 'authority';
}

/** Checks that no stage names are never asked: whom they would ask doesn't matter. */
const askedBy = ({ stages = [], checks = [] }: RolloutPlanSpec): { at: string; check: PlanCheck }[] => {
  const named = new Set(stages.flatMap(({ promote }) => promote?.checks ?? []));
  return checks.flatMap((check, index) => (named.has(check.name) ? [{ at: `spec.checks[${index}]`, check }] : []));
};

const unaskable = (check: PrometheusCheck, at: string, cluster: boolean, rules: AddressRules): PolicyError[] => {
  const { address = '', tls } = check;
  const chosen = chooseAddress(check.address, cluster, rules);
  if (!chosen.ok) {
    const { problem, cure } = chosen;
    return [{ field: `${at}.prometheus.address`, value: shownAddress(address), problem, cure }];
  }
  if (!tls || chosen.address.origin.startsWith('https:')) return [];
  const cure = 'set an address with https, or remove tls';
  return [
    { field: `${at}.prometheus.tls`, value: chosen.address.origin, problem: 'is for an address without TLS', cure },
  ];
};

/**
 * What is wrong with the checks of a plan. `rules`: whom the manager may ask; without them, only what the plan says is judged,
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

/** The Secrets that the checks of a plan need; `namespace`: where they are. */
export const secretUses = (spec: RolloutPlanSpec, namespace: string): SecretUse[] =>
  askedBy(spec).flatMap(({ at, check }): SecretUse[] => {
    const { credentials, tls } = check.prometheus ?? {};
    const use = (field: string, name: string | undefined, what: SecretUse['what']): SecretUse[] =>
      name === undefined ? [] : [{ field: `${at}.prometheus.${field}`, namespace, name, what }];
    return [
      ...use('credentials.secretName', credentials?.secretName, 'credentials'),
      ...use('tls.caSecretName', tls?.caSecretName, 'authority'),
    ];
  });
