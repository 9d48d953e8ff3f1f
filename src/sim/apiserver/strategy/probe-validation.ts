import type { Cause } from '../refusal.ts';
import { arrayOf, isRecord, type Json, recordOf } from '../value/index.ts';
import { forbiddenChange, invalidValue, required } from './causes.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';

export const portCauses = (port: unknown, field: string): Cause[] =>
  Number(port) >= 1 && Number(port) <= 65_535 ? [] : [invalidValue(field, port, PORT_RANGE)];

/** Of an action by network: a number, or the name of one of the container's ports. */
const targetCauses = (action: Json, field: string): Cause[] =>
  typeof action.port === 'string' ? [] : portCauses(action.port ?? 0, `${field}.port`);

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

const actionCauses = (kind: (typeof HANDLERS)[number], action: Json, field: string): Cause[] => {
  if (kind === 'exec') return arrayOf(action.command).length === 0 ? [required(`${field}.command`)] : [];
  return kind === 'sleep' ? [] : targetCauses(action, field);
};

/** Exactly one way to act. */
const handlerCauses = (handler: Json, field: string): Cause[] => {
  const given = HANDLERS.filter((kind) => isRecord(handler[kind]));
  if (given.length === 0) return [required(field, 'must specify a handler type')];
  return given.flatMap((kind, index) =>
    index === 0
      ? actionCauses(kind, recordOf(handler[kind]), `${field}.${kind}`)
      : [forbiddenChange(`${field}.${kind}`, 'may not specify more than 1 handler type')],
  );
};

const TIMES = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

const probeCauses = (container: Json, name: string, here: string): Cause[] => {
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
export const lifeCauses = (container: Json, here: string): Cause[] => {
  const hooks = recordOf(container.lifecycle);
  const ofHooks = ['postStart', 'preStop'].flatMap((hook) =>
    isRecord(hooks[hook]) ? handlerCauses(hooks[hook], `${here}.lifecycle.${hook}`) : [],
  );
  return [...ofHooks, ...PROBES.flatMap((name) => probeCauses(container, name, here))];
};

/** What only containers have that run as long as their pod. */
export const noLifeCauses = (container: Json, here: string): Cause[] =>
  ['lifecycle', ...PROBES]
    .filter((name) => container[name] !== undefined)
    .map((name) =>
      forbiddenChange(`${here}.${name}`, 'may not be set for init containers without restartPolicy=Always'),
    );
