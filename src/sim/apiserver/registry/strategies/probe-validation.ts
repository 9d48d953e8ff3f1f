import type { StatusCause } from '../../errors.ts';
import { arrayOf, isRecord, type Json, recordOf } from '../../value/index.ts';
import { forbiddenField, invalidValue, requiredField } from './causes.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';

export const validatePort = (port: unknown, field: string): StatusCause[] =>
  Number(port) >= 1 && Number(port) <= 65_535 ? [] : [invalidValue(field, port, PORT_RANGE)];

/** Of an action by network: a number, or the name of one of the container's ports. */
const targetCauses = (action: Json, field: string): StatusCause[] =>
  typeof action.port === 'string' ? [] : validatePort(action.port ?? 0, `${field}.port`);

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

const actionCauses = (kind: (typeof HANDLERS)[number], action: Json, field: string): StatusCause[] => {
  if (kind === 'exec') return arrayOf(action.command).length === 0 ? [requiredField(`${field}.command`)] : [];
  return kind === 'sleep' ? [] : targetCauses(action, field);
};

/** Exactly one way to act. */
const handlerCauses = (handler: Json, field: string): StatusCause[] => {
  const given = HANDLERS.filter((kind) => isRecord(handler[kind]));
  if (given.length === 0) return [requiredField(field, 'must specify a handler type')];
  return given.flatMap((kind, index) =>
    index === 0
      ? actionCauses(kind, recordOf(handler[kind]), `${field}.${kind}`)
      : [forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type')],
  );
};

const TIMES = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

const probeCauses = (container: Json, name: string, here: string): StatusCause[] => {
  const probe = container[name];
  if (!isRecord(probe)) return [];
  const field = `${here}.${name}`;
  const causes = [
    ...handlerCauses(probe, field),
    ...TIMES.filter((time) => Number(probe[time] ?? 0) < 0).map((time) =>
      invalidValue(`${field}.${time}`, probe[time], 'must be greater than or equal to 0'),
    ),
  ];
  if (name !== 'readinessProbe' && probe.successThreshold !== 1)
    causes.push(invalidValue(`${field}.successThreshold`, probe.successThreshold, 'must be 1'));
  return causes;
};

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** Hooks and probes of what runs as long as its pod. */
export const validateLifecycle = (container: Json, here: string): StatusCause[] => {
  const hooks = recordOf(container.lifecycle);
  const ofHooks = ['postStart', 'preStop'].flatMap((hook) =>
    isRecord(hooks[hook]) ? handlerCauses(hooks[hook], `${here}.lifecycle.${hook}`) : [],
  );
  return [...ofHooks, ...PROBES.flatMap((name) => probeCauses(container, name, here))];
};

/** What only containers have that run as long as their pod. */
export const forbidLifecycle = (container: Json, here: string): StatusCause[] =>
  ['lifecycle', ...PROBES]
    .filter((name) => container[name] !== undefined)
    .map((name) =>
      forbiddenField(`${here}.${name}`, 'may not be set for init containers without restartPolicy=Always'),
    );
