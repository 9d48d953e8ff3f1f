import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  nonEmpty,
  oneOf,
  requiredField,
  type StatusCause,
  validateItems,
} from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, recordOf, scalarText, textOf } from '../../json.ts';
import { labelCauses } from './names.ts';
import { compareQuantities, isQuantity, isWholeNumber } from './quantity.ts';
import { validateContainerSecurity } from './security-validation.ts';
import { validateMounts } from './volume-validation.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';

const validatePort = (port: unknown, field: string): StatusCause[] =>
  Number(port) >= 1 && Number(port) <= 65_535 ? [] : [invalidValue(field, port, PORT_RANGE)];

const PORT_NAME = /^[-a-z0-9]*$/;

const portNameError = (name: string): string | undefined => {
  if (name.length > 15) return 'must be no more than 15 characters';
  if (!PORT_NAME.test(name)) return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
  return /[a-z]/.test(name) ? undefined : 'must contain at least one letter (a-z)';
};

/** The port of a network action: a number, or the name of a container port. */
const targetCauses = (action: Json, field: string): StatusCause[] => {
  const { port } = action;
  if (typeof port !== 'string') return validatePort(port ?? 0, `${field}.port`);
  const detail = portNameError(port);
  return detail === undefined ? [] : [invalidValue(`${field}.port`, port, detail)];
};

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

const actionCauses = (
  kind: (typeof HANDLERS)[number],
  action: Json,
  field: string,
  graceSeconds: number,
): StatusCause[] => {
  switch (kind) {
    case 'exec':
      return arrayOf(action.command).length === 0 ? [requiredField(`${field}.command`)] : [];
    case 'sleep': {
      const seconds = Number(action.seconds ?? 0);
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      return seconds < 0 || seconds > graceSeconds ? [invalidValue(field, seconds, why)] : [];
    }
    case 'httpGet':
      return [...targetCauses(action, field), ...oneOf(`${field}.scheme`, action.scheme, ['HTTP', 'HTTPS'])];
    case 'tcpSocket':
    case 'grpc':
      return targetCauses(action, field);
  }
};

/** Requires exactly one handler. */
const handlerCauses = (handler: Json, field: string, graceSeconds: number): StatusCause[] => {
  const given = HANDLERS.filter((kind) => isRecord(handler[kind]));
  if (given.length === 0) return [requiredField(field, 'must specify a handler type')];
  return given.flatMap((kind, index) =>
    index === 0
      ? actionCauses(kind, recordOf(handler[kind]), `${field}.${kind}`, graceSeconds)
      : [forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type')],
  );
};

const TIMES = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

const probeCauses = (container: Json, name: string, here: string, graceSeconds: number): StatusCause[] => {
  const probe = container[name];
  if (!isRecord(probe)) return [];
  const field = `${here}.${name}`;
  const causes = [
    ...handlerCauses(probe, field, graceSeconds),
    ...TIMES.filter((time) => Number(probe[time] ?? 0) < 0).map((time) =>
      invalidValue(`${field}.${time}`, probe[time], 'must be greater than or equal to 0'),
    ),
  ];
  const grace = probe.terminationGracePeriodSeconds;
  const graceField = `${field}.terminationGracePeriodSeconds`;
  if (typeof grace === 'number' && grace <= 0) causes.push(invalidValue(graceField, grace, 'must be greater than 0'));
  if (name === 'readinessProbe' && grace !== undefined)
    causes.push(invalidValue(graceField, grace, 'must not be set for readinessProbes'));
  if (name !== 'readinessProbe' && probe.successThreshold !== 1)
    causes.push(invalidValue(`${field}.successThreshold`, probe.successThreshold, 'must be 1'));
  return causes;
};

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** Validates lifecycle hooks and probes of long-running containers. */
const validateLifecycle = (container: Json, here: string, graceSeconds: number): StatusCause[] => {
  const hooks = recordOf(container.lifecycle);
  const ofHooks = ['postStart', 'preStop'].flatMap((hook) =>
    isRecord(hooks[hook]) ? handlerCauses(hooks[hook], `${here}.lifecycle.${hook}`, graceSeconds) : [],
  );
  return [...ofHooks, ...PROBES.flatMap((name) => probeCauses(container, name, here, graceSeconds))];
};

/** Rejects hooks and probes on plain init containers. */
const forbidLifecycle = (container: Json, here: string): StatusCause[] =>
  ['lifecycle', ...PROBES]
    .filter((name) => container[name] !== undefined)
    .map((name) =>
      forbiddenField(`${here}.${name}`, 'may not be set for init containers without restartPolicy=Always'),
    );

const STANDARD = ['cpu', 'memory', 'ephemeral-storage'];
const isStandard = (name: string): boolean => STANDARD.includes(name) || name.startsWith('hugepages-');
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/');
const mayExceed = (name: string): boolean => STANDARD.includes(name);

const nameCauses = (name: string, field: string): StatusCause[] => {
  if (isStandard(name) || name.includes('/')) return [];
  return ['must be a standard resource type or fully qualified', 'must be a standard resource for containers'].map(
    (why) => invalidValue(field, name, why),
  );
};

const SPELLING = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const amountCauses = (name: string, amount: unknown, field: string): StatusCause[] => {
  if (!isQuantity(amount)) return [invalidValue(field, amount, SPELLING)];
  const causes: StatusCause[] = [];
  if (compareQuantities(amount, '0') < 0)
    causes.push(invalidValue(field, String(amount), 'must be greater than or equal to 0'));
  if (isExtended(name) && !isWholeNumber(amount))
    causes.push(invalidValue(field, String(amount), 'must be an integer'));
  return causes;
};

/** Validates a container's resources: valid quantities, and requests within limits. */
const validateResources = (container: Json, here: string): StatusCause[] => {
  const field = `${here}.resources`;
  const limits = recordOf(at(container, 'resources', 'limits'));
  const requests = recordOf(at(container, 'resources', 'requests'));
  const causes = Object.entries(limits).flatMap(([name, amount]) => [
    ...nameCauses(name, `${field}.limits[${name}]`),
    ...amountCauses(name, amount, `${field}.limits[${name}]`),
  ]);
  for (const [name, amount] of Object.entries(requests)) {
    const one = `${field}.requests[${name}]`;
    const errors = [...nameCauses(name, one), ...amountCauses(name, amount, one)];
    causes.push(...errors);
    const limit = limits[name];
    const shown = scalarText(limit, '');
    if (errors.length > 0 || (limit !== undefined && !isQuantity(limit))) continue;
    if (limit === undefined) {
      if (!mayExceed(name))
        causes.push(requiredField(`${field}.limits`, 'Limit must be set for non overcommitable resources'));
    } else if (!mayExceed(name) && compareQuantities(amount, limit) !== 0)
      causes.push(invalidValue(`${field}.requests`, amount, `must be equal to ${name} limit of ${shown}`));
    else if (compareQuantities(amount, limit) > 0)
      causes.push(invalidValue(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${shown}`));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some((name) => name.startsWith('hugepages-')) && !names.includes('cpu') && !names.includes('memory'))
    causes.push(forbiddenField(field, 'HugePages require cpu or memory'));
  return causes;
};

const ports = (container: Json, here: string): StatusCause[] => {
  const names = new Set<string>();
  return validateItems(container, 'ports', here, (port, field) => {
    const causes: StatusCause[] = [];
    const name = textOf(port.name);
    const detail = name === '' ? undefined : portNameError(name);
    if (detail !== undefined) causes.push(invalidValue(`${field}.name`, name, detail));
    else if (name !== '' && names.has(name)) causes.push(duplicateValue(`${field}.name`, name));
    names.add(name);
    if (Number(port.containerPort ?? 0) === 0) causes.push(requiredField(`${field}.containerPort`));
    else causes.push(...validatePort(port.containerPort, `${field}.containerPort`));
    if (Number(port.hostPort ?? 0) !== 0) causes.push(...validatePort(port.hostPort, `${field}.hostPort`));
    return [...causes, ...oneOf(`${field}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP'])];
  });
};

const ENV_NAME = /^[ -<>-~]*$/;
const ENV_NAMES = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

/** Pod fields that env variables may refer to. */
const FIELD =
  /^(metadata\.(annotations|labels|name|namespace|uid)|metadata\.(annotations|labels)\['.+'\]|spec\.(nodeName|restartPolicy|serviceAccountName|schedulerName|hostNetwork)|status\.(phase|hostIPs?|podIPs?))$/;

const environment = (container: Json, here: string): StatusCause[] =>
  validateItems(container, 'env', here, (variable, field) => {
    const name = textOf(variable.name);
    const causes: StatusCause[] = name === '' ? [requiredField(`${field}.name`)] : [];
    if (!ENV_NAME.test(name)) causes.push(invalidValue(`${field}.name`, name, ENV_NAMES));
    const source = variable.valueFrom;
    if (!isRecord(source)) return causes;
    const from = `${field}.valueFrom`;
    if (!SOURCES.some((kind) => source[kind] !== undefined)) {
      const all = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
      return [...causes, invalidValue(from, '', all)];
    }
    const path = textOf(at(source, 'fieldRef', 'fieldPath'));
    if (source.fieldRef !== undefined && !FIELD.test(path)) {
      const why = `error converting fieldPath: field label not supported: ${path}`;
      causes.push(invalidValue(`${from}.fieldRef.fieldPath`, path, why));
    }
    if (textOf(variable.value) !== '')
      causes.push(invalidValue(from, '', 'may not be specified when `value` is not empty'));
    return causes;
  });

const MESSAGES = ['File', 'FallbackToLogsOnError'];
const PULLS = ['Always', 'IfNotPresent', 'Never'];
/** Validates what all containers have in common. */
const common = (container: Json, spec: Json, here: string, isPod: boolean): StatusCause[] => {
  const image = textOf(container.image);
  return [
    ...labelCauses(container.name, `${here}.name`),
    ...nonEmpty(`${here}.image`, image),
    ...oneOf(`${here}.terminationMessagePolicy`, container.terminationMessagePolicy, MESSAGES),
    ...ports(container, here),
    ...environment(container, here),
    ...validateMounts(container, spec, here),
    ...oneOf(`${here}.imagePullPolicy`, container.imagePullPolicy, PULLS),
    ...validateResources(container, here),
    ...validateContainerSecurity(container, here),
    // The real server checks this for pods, but not for templates.
    ...(isPod && image.trim() !== image
      ? [invalidValue(`${here}.image`, image, 'must not have leading or trailing whitespace')]
      : []),
  ];
};

const hostPortCauses = (container: Json, here: string, taken: Set<string>): StatusCause[] =>
  validateItems(container, 'ports', here, ({ hostPort, protocol, hostIP }, field) => {
    if (Number(hostPort ?? 0) === 0) return [];
    const claim = `${textOf(protocol)}/${textOf(hostIP)}/${Number(hostPort)}`;
    if (taken.has(claim)) return [duplicateValue(`${field}.hostPort`, claim)];
    taken.add(claim);
    return [];
  });

/** Validates containers and init containers, which share one namespace of names. */
export const validateContainers = (spec: Json, field: string, isPod: boolean): StatusCause[] => {
  const names = new Set<string>();
  const list = (which: string, more: (container: Json, here: string) => StatusCause[]): StatusCause[] =>
    validateItems(spec, which, field, (container, here) => {
      const causes = common(container, spec, here, isPod);
      const name = textOf(container.name);
      if (name !== '' && names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
      names.add(name);
      return [...causes, ...more(container, here)];
    });
  const claimed = (which: string, apart: boolean): StatusCause[] => {
    let taken = new Set<string>();
    return validateItems(spec, which, field, (container, here) => {
      // Init containers run one by one, and the API server reports each as the first.
      if (apart) taken = new Set();
      return hostPortCauses(container, apart ? `${field}.${which}[0]` : here, taken);
    });
  };
  const grace = Number(spec.terminationGracePeriodSeconds ?? 0);
  const none = arrayOf(spec.containers).length === 0 ? [requiredField(`${field}.containers`)] : [];
  return [
    ...none,
    ...list('containers', (container, here) => validateLifecycle(container, here, grace)),
    ...claimed('containers', false),
    ...list('initContainers', (container, here) =>
      container.restartPolicy === 'Always'
        ? validateLifecycle(container, here, grace)
        : forbidLifecycle(container, here),
    ),
    ...claimed('initContainers', true),
  ];
};

/** With hostNetwork, host ports must equal container ports. */
export const validateHostPorts = (spec: Json, field: string): StatusCause[] => {
  if (spec.hostNetwork !== true) return [];
  return ['containers', 'initContainers'].flatMap((which) =>
    validateItems(spec, which, field, (container, path) =>
      validateItems(container, 'ports', path, ({ hostPort, containerPort }, here) => {
        const host = Number(hostPort ?? 0);
        if (host === 0 || host === containerPort) return [];
        return [invalidValue(`${here}.hostPort`, host, 'must match `containerPort` when `hostNetwork` is true')];
      }),
    ),
  );
};
