import { compile } from '../crd/cel.ts';
import { StatusError } from '../errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../json.ts';
import { matchesLabelSelector } from '../label-selectors.ts';
import type { Kind } from '../registry/kind.ts';
import type { ServerState } from './state.ts';

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

/** A write that is about to happen. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  namespace: string | undefined;
  name: string;
  subresource?: string | undefined;
  /** As it would be; absent for a delete. */
  object?: Json;
  /** As it is; absent for a create. */
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

/** An absent or empty selector takes all. */
const selects = (selector: unknown, object: unknown): boolean =>
  selector === undefined || matchesLabelSelector(selector, recordOf(at(object, 'metadata', 'labels')));

const matchesConstraints = (
  state: ServerState,
  constraints: unknown,
  kind: Kind,
  attempt: AdmissionRequest,
): boolean => {
  if (constraints === undefined) return true;
  const space = attempt.namespace === undefined ? undefined : state.store.get('namespaces', attempt.namespace);
  return (
    arrayOf(at(constraints, 'resourceRules')).some((rule) => matchesRule(rule, kind, attempt)) &&
    !arrayOf(at(constraints, 'excludeResourceRules')).some((rule) => matchesRule(rule, kind, attempt)) &&
    (space === undefined || selects(at(constraints, 'namespaceSelector'), space)) &&
    (selects(at(constraints, 'objectSelector'), attempt.object) ||
      selects(at(constraints, 'objectSelector'), attempt.oldObject))
  );
};

interface Verdict {
  /** Why the write is refused. */
  message: string;
}

/** The first of the policy's rules that the write breaks. A rule that cannot be run counts as broken when it must not fail. */
const judge = (policy: unknown, attempt: AdmissionRequest): Verdict | undefined => {
  const { operation, namespace = '', name, object = null, oldObject = null } = attempt;
  const variables = { object, oldObject, request: { operation, namespace, name }, params: null };
  for (const validation of arrayOf(at(policy, 'spec', 'validations'))) {
    const expression = textOf(at(validation, 'expression'));
    try {
      if (compile(expression)(variables) === true) continue;
    } catch (error) {
      if (at(policy, 'spec', 'failurePolicy') === 'Ignore') continue;
      const why = error instanceof Error ? error.message : String(error);
      return { message: `expression '${expression}' resulted in error: ${why}` };
    }
    return { message: textOf(at(validation, 'message')) || `failed expression: ${expression}` };
  }
  return undefined;
};

const denies = (binding: unknown): boolean => arrayOf(at(binding, 'spec', 'validationActions')).includes('Deny');

/** Refuses what a ValidatingAdmissionPolicy that is bound with `Deny` does not allow. */
export const admit = (state: ServerState, kind: Kind, attempt: AdmissionRequest): void => {
  // Looked at by every write: nothing is to be done while there is no policy.
  if (state.store.size(BINDINGS) === 0) return;
  for (const binding of state.store.list(BINDINGS, '')) {
    const policy = state.store.get(POLICIES, textOf(at(binding, 'spec', 'policyName')));
    if (!policy || !denies(binding)) continue;
    if (!matchesConstraints(state, at(policy, 'spec', 'matchConstraints'), kind, attempt)) continue;
    if (!matchesConstraints(state, at(binding, 'spec', 'matchResources'), kind, attempt)) continue;
    const verdict = judge(policy, attempt);
    if (!verdict) continue;
    const message =
      `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}' ` +
      `denied request: ${verdict.message}`;
    throw new StatusError('Invalid', 422, 'Invalid', `${kind.plural} "${attempt.name}" is forbidden: ${message}`, {
      name: attempt.name,
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.plural,
      causes: [{ reason: '', message }],
    });
  }
};
