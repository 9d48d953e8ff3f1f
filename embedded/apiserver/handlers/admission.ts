import { errorText } from '../../../src/runtime/index.ts';
import { compile } from '../crd/cel.ts';
import { StatusError } from '../errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../json.ts';
import { matchesLabelSelector } from '../label-selectors.ts';
import type { Kind } from '../registry/kind.ts';
import type { ServerState } from './state.ts';

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

/** A write that is about to be stored. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  namespace: string | undefined;
  name: string;
  subresource?: string | undefined;
  /** The new object; absent for deletes. */
  object?: Json;
  /** The current object; absent for creates. */
  oldObject?: Json;
}

const includes = (list: unknown, value: string): boolean =>
  arrayOf(list).some((each) => each === '*' || each === value);

const matchesRule = (rule: unknown, kind: Kind, { operation, subresource }: AdmissionRequest): boolean => {
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  const resources = arrayOf(at(rule, 'resources')).map(textOf);
  return (
    includes(at(rule, 'apiGroups'), kind.group) &&
    includes(at(rule, 'apiVersions'), kind.version) &&
    includes(at(rule, 'operations'), operation) &&
    resources.some((each) =>
      [resource, `${kind.plural}/*`, '*/*', ...(subresource === undefined ? ['*'] : [])].includes(each),
    )
  );
};

/** An absent or empty selector matches everything. */
const selects = (selector: unknown, object: unknown): boolean =>
  selector === undefined || matchesLabelSelector(selector, recordOf(at(object, 'metadata', 'labels')));

const matchesConstraints = (
  state: ServerState,
  constraints: unknown,
  kind: Kind,
  request: AdmissionRequest,
): boolean => {
  if (constraints === undefined) return true;
  const space = request.namespace === undefined ? undefined : state.store.get('namespaces', request.namespace);
  return (
    arrayOf(at(constraints, 'resourceRules')).some((rule) => matchesRule(rule, kind, request)) &&
    !arrayOf(at(constraints, 'excludeResourceRules')).some((rule) => matchesRule(rule, kind, request)) &&
    (space === undefined || selects(at(constraints, 'namespaceSelector'), space)) &&
    (selects(at(constraints, 'objectSelector'), request.object) ||
      selects(at(constraints, 'objectSelector'), request.oldObject))
  );
};

interface Denial {
  /** Why the write is denied. */
  message: string;
}

/**
 * The first validation of the policy that the write fails. With failurePolicy Fail, an expression that can't be
 * evaluated fails.
 */
const evaluate = (policy: unknown, kind: Kind, request: AdmissionRequest): Denial | undefined => {
  const { operation, namespace = '', name, object = null, oldObject = null } = request;
  const { group, version, plural } = kind;
  const asked = { operation, namespace, name, resource: { group, version, resource: plural } };
  const variables = { object, oldObject, request: asked, params: null };
  for (const validation of arrayOf(at(policy, 'spec', 'validations'))) {
    const expression = textOf(at(validation, 'expression'));
    try {
      if (compile(expression)(variables) === true) continue;
    } catch (error) {
      if (at(policy, 'spec', 'failurePolicy') === 'Ignore') continue;
      const why = errorText(error);
      return { message: `expression '${expression}' resulted in error: ${why}` };
    }
    return { message: textOf(at(validation, 'message')) || `failed expression: ${expression}` };
  }
  return undefined;
};

/**
 * Policies with match conditions or variables are about who writes, and this server lets everybody do everything: it knows
 * neither, and enforces no part of such a policy.
 */
const isKnown = (policy: unknown): boolean =>
  at(policy, 'spec', 'matchConditions') === undefined && at(policy, 'spec', 'variables') === undefined;

const isEnforced = (binding: unknown): boolean => arrayOf(at(binding, 'spec', 'validationActions')).includes('Deny');

/** Rejects writes that a ValidatingAdmissionPolicy bound with `Deny` doesn't allow. */
export const admit = (state: ServerState, kind: Kind, request: AdmissionRequest): void => {
  // Every write gets here; usually there are no policies.
  if (state.store.size(BINDINGS) === 0) return;
  for (const binding of state.store.list(BINDINGS, '')) {
    const policy = state.store.get(POLICIES, textOf(at(binding, 'spec', 'policyName')));
    if (!policy || !isEnforced(binding) || !isKnown(policy)) continue;
    if (!matchesConstraints(state, at(policy, 'spec', 'matchConstraints'), kind, request)) continue;
    if (!matchesConstraints(state, at(binding, 'spec', 'matchResources'), kind, request)) continue;
    const denial = evaluate(policy, kind, request);
    if (!denial) continue;
    const message =
      `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}' ` +
      `denied request: ${denial.message}`;
    throw new StatusError('Invalid', `${kind.plural} "${request.name}" is forbidden: ${message}`, {
      name: request.name,
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.plural,
      causes: [{ reason: '', message }],
    });
  }
};
