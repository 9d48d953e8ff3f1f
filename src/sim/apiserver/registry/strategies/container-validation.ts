import type { StatusCause } from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../../value/index.ts';
import { duplicateValue, invalidValue, notSupported, requiredField } from './causes.ts';
import { nameErrors } from './names.ts';
import { forbidLifecycle, validateLifecycle, validatePort } from './probe-validation.ts';
import { validateResources } from './resource-validation.ts';

const PORT_NAME = /^[-a-z0-9]*$/;

const portNameFault = (name: string): string | undefined => {
  if (name.length > 15) return 'must be no more than 15 characters';
  if (!PORT_NAME.test(name)) return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
  return /[a-z]/.test(name) ? undefined : 'must contain at least one letter (a-z)';
};

const ports = (container: Json, here: string): StatusCause[] => {
  const names = new Set<string>();
  return arrayOf(container.ports).flatMap((given, index) => {
    const port = recordOf(given);
    const field = `${here}.ports[${index}]`;
    const causes: StatusCause[] = [];
    const name = textOf(port.name);
    const fault = name === '' ? undefined : portNameFault(name);
    if (fault !== undefined) causes.push(invalidValue(`${field}.name`, name, fault));
    else if (name !== '' && names.has(name)) causes.push(duplicateValue(`${field}.name`, name));
    names.add(name);
    if (Number(port.containerPort ?? 0) === 0) causes.push(requiredField(`${field}.containerPort`));
    else causes.push(...validatePort(port.containerPort, `${field}.containerPort`));
    if (Number(port.hostPort ?? 0) !== 0) causes.push(...validatePort(port.hostPort, `${field}.hostPort`));
    const protocol = textOf(port.protocol);
    if (!['SCTP', 'TCP', 'UDP'].includes(protocol))
      causes.push(notSupported(`${field}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
    return causes;
  });
};

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

/** Fields of a pod that its containers may be told of. */
const FIELD =
  /^(metadata\.(annotations|labels|name|namespace|uid)|metadata\.(annotations|labels)\['.+'\]|spec\.(nodeName|restartPolicy|serviceAccountName|schedulerName|hostNetwork)|status\.(phase|hostIPs?|podIPs?))$/;

const environment = (container: Json, here: string): StatusCause[] =>
  arrayOf(container.env).flatMap((given, index) => {
    const variable = recordOf(given);
    const field = `${here}.env[${index}]`;
    const causes: StatusCause[] = textOf(variable.name) === '' ? [requiredField(`${field}.name`)] : [];
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

const mounts = (container: Json, spec: Json, here: string): StatusCause[] => {
  const places = new Set<string>();
  return arrayOf(container.volumeMounts).flatMap((mount, index) => {
    const field = `${here}.volumeMounts[${index}]`;
    const name = textOf(at(mount, 'name'));
    const place = textOf(at(mount, 'mountPath'));
    const causes: StatusCause[] = name === '' ? [requiredField(`${field}.name`)] : [];
    if (!arrayOf(spec.volumes).some((volume) => at(volume, 'name') === name))
      causes.push({
        reason: 'FieldValueNotFound',
        message: `Not found: ${JSON.stringify(name)}`,
        field: `${field}.name`,
      });
    if (place === '') causes.push(requiredField(`${field}.mountPath`));
    if (places.has(place)) causes.push(invalidValue(`${field}.mountPath`, place, 'must be unique'));
    places.add(place);
    return causes;
  });
};

const MESSAGES = ['File', 'FallbackToLogsOnError'];
const PULLS = ['Always', 'IfNotPresent', 'Never'];
const MOST_USER = 2_147_483_647;

const security = (container: Json, here: string): StatusCause[] => {
  const field = `${here}.securityContext`;
  return ['runAsUser', 'runAsGroup'].flatMap((name) => {
    const value = at(container, 'securityContext', name);
    if (value === undefined || (Number(value) >= 0 && Number(value) <= MOST_USER)) return [];
    return [invalidValue(`${field}.${name}`, value, `must be between 0 and ${MOST_USER}, inclusive`)];
  });
};

/** What any container must be. */
const common = (container: Json, spec: Json, here: string, isPod: boolean): StatusCause[] => {
  const name = textOf(container.name);
  const image = textOf(container.image);
  const causes: StatusCause[] =
    name === ''
      ? [requiredField(`${here}.name`)]
      : nameErrors(name, 'label').map((fault) => invalidValue(`${here}.name`, name, fault));
  if (image === '') causes.push(requiredField(`${here}.image`));
  const message = textOf(container.terminationMessagePolicy);
  if (!MESSAGES.includes(message)) causes.push(notSupported(`${here}.terminationMessagePolicy`, message, MESSAGES));
  causes.push(...ports(container, here), ...environment(container, here), ...mounts(container, spec, here));
  const pull = textOf(container.imagePullPolicy);
  if (!PULLS.includes(pull)) causes.push(notSupported(`${here}.imagePullPolicy`, pull, PULLS));
  causes.push(...validateResources(container, here), ...security(container, here));
  // A template may hold what a pod may not.
  if (isPod && image.trim() !== image)
    causes.push(invalidValue(`${here}.image`, image, 'must not have leading or trailing whitespace'));
  return causes;
};

/** Containers and init containers; their names are told apart in one list. */
export const validateContainers = (spec: Json, field: string, isPod: boolean): StatusCause[] => {
  const names = new Set<string>();
  const list = (
    which: 'containers' | 'initContainers',
    more: (container: Json, here: string) => StatusCause[],
  ): StatusCause[] =>
    arrayOf(spec[which]).flatMap((given, index) => {
      const container = recordOf(given);
      const here = `${field}.${which}[${index}]`;
      const causes = common(container, spec, here, isPod);
      const name = textOf(container.name);
      if (name !== '' && names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
      names.add(name);
      return [...causes, ...more(container, here)];
    });
  const none = arrayOf(spec.containers).length === 0 ? [requiredField(`${field}.containers`)] : [];
  return [
    ...none,
    ...list('containers', validateLifecycle),
    ...list('initContainers', (container, here) =>
      container.restartPolicy === 'Always' ? validateLifecycle(container, here) : forbidLifecycle(container, here),
    ),
  ];
};

/** In the host's network a container's port is the host's. */
export const validateHostPorts = (spec: Json, field: string): StatusCause[] => {
  if (spec.hostNetwork !== true) return [];
  return ['containers', 'initContainers'].flatMap((which) =>
    arrayOf(spec[which]).flatMap((container, index) =>
      arrayOf(at(container, 'ports')).flatMap((port, at_) => {
        const host = Number(at(port, 'hostPort') ?? 0);
        if (host === 0 || host === at(port, 'containerPort')) return [];
        const here = `${field}.${which}[${index}].ports[${at_}].hostPort`;
        return [invalidValue(here, host, 'must match `containerPort` when `hostNetwork` is true')];
      }),
    ),
  );
};
