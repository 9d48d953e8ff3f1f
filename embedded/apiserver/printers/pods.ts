import type { StoredObject } from '../../types.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../json.ts';
import {
  ageColumn,
  ageOf,
  type Column,
  conditionOf,
  field,
  NONE,
  nameColumn,
  textColumn,
  wideColumn,
} from './columns.ts';

const UNREACHABLE = 'NodeLost';

const initProblem = (pod: Json): string | undefined => {
  const specs = arrayOf(at(pod, 'spec', 'initContainers')).map(recordOf);
  for (const [index, status] of arrayOf(at(pod, 'status', 'initContainerStatuses')).entries()) {
    const terminated = at(status, 'state', 'terminated');
    const sidecar = specs.find(({ name }) => name === at(status, 'name'))?.restartPolicy === 'Always';
    if (terminated !== undefined) {
      if (at(terminated, 'exitCode') === 0) continue;
      const reason = textOf(at(terminated, 'reason'));
      if (reason !== '') return `Init:${reason}`;
      const signal = Number(at(terminated, 'signal') ?? 0);
      return signal === 0 ? `Init:ExitCode:${String(at(terminated, 'exitCode'))}` : `Init:Signal:${signal}`;
    }
    if (sidecar && at(status, 'started') === true) continue;
    const waiting = textOf(at(status, 'state', 'waiting', 'reason'));
    return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${specs.length}`;
  }
  return undefined;
};

/** The STATUS column of `kubectl get pods`. */
export const podStatus = (pod: Json): string => {
  const phase = textOf(at(pod, 'status', 'phase'));
  const why = textOf(at(pod, 'status', 'reason'));
  let reason = why === '' ? phase : why;
  if (conditionOf(pod, 'PodScheduled').reason === 'SchedulingGated') reason = 'SchedulingGated';
  const problem = initProblem(pod);
  if (problem !== undefined && conditionOf(pod, 'Initialized').status !== 'True') reason = problem;
  else {
    let hasRunning = false;
    for (const status of arrayOf(at(pod, 'status', 'containerStatuses')).toReversed()) {
      const waiting = textOf(at(status, 'state', 'waiting', 'reason'));
      const terminated = at(status, 'state', 'terminated');
      if (waiting !== '') reason = waiting;
      else if (terminated !== undefined) {
        const ended = textOf(at(terminated, 'reason'));
        const signal = Number(at(terminated, 'signal') ?? 0);
        if (ended !== '') reason = ended;
        else reason = signal === 0 ? `ExitCode:${String(at(terminated, 'exitCode'))}` : `Signal:${signal}`;
      } else if (at(status, 'ready') === true && at(status, 'state', 'running') !== undefined) hasRunning = true;
    }
    if (reason === 'Completed' && hasRunning)
      reason = conditionOf(pod, 'Ready').status === 'True' ? 'Running' : 'NotReady';
  }
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) {
    if (why === UNREACHABLE) return 'Unknown';
    if (phase !== 'Succeeded' && phase !== 'Failed') return 'Terminating';
  }
  return reason;
};

const statuses = (pod: Json): readonly unknown[] => [
  ...arrayOf(at(pod, 'status', 'containerStatuses')),
  ...arrayOf(at(pod, 'status', 'initContainerStatuses')).filter((status) => {
    const spec = arrayOf(at(pod, 'spec', 'initContainers')).find((each) => at(each, 'name') === at(status, 'name'));
    return at(spec, 'restartPolicy') === 'Always';
  }),
];

const readyText = (pod: Json): string => {
  const sidecars = arrayOf(at(pod, 'spec', 'initContainers')).filter((each) => at(each, 'restartPolicy') === 'Always');
  const total = arrayOf(at(pod, 'spec', 'containers')).length + sidecars.length;
  const ready = statuses(pod).filter(
    (status) =>
      at(status, 'ready') === true && (at(status, 'state', 'running') !== undefined || at(status, 'started') === true),
  );
  return `${ready.length}/${total}`;
};

const restartsText = (pod: Json, now: number): string => {
  let restarts = 0;
  let last = 0;
  for (const status of statuses(pod)) {
    restarts += Number(at(status, 'restartCount') ?? 0);
    const finished = Date.parse(textOf(at(status, 'lastState', 'terminated', 'finishedAt')));
    if (finished > last) last = finished;
  }
  return restarts > 0 && last > 0 ? `${restarts} (${ageOf(new Date(last).toISOString(), now)} ago)` : String(restarts);
};

const gatesText = (pod: Json): string => {
  const gates = arrayOf(at(pod, 'spec', 'readinessGates'));
  if (gates.length === 0) return NONE;
  const open = gates.filter((gate) => conditionOf(pod, textOf(at(gate, 'conditionType'))).status === 'True');
  return `${open.length}/${gates.length}`;
};

const firstIp = (pod: StoredObject): string =>
  textOf(at(arrayOf(at(pod, 'status', 'podIPs'))[0], 'ip')) || field(NONE, 'status', 'podIP')(pod);

export const podColumns: readonly Column[] = [
  nameColumn,
  textColumn('Ready', readyText),
  textColumn('Status', podStatus),
  textColumn('Restarts', restartsText),
  ageColumn,
  wideColumn('IP', firstIp),
  wideColumn('Node', field(NONE, 'spec', 'nodeName')),
  wideColumn('Nominated Node', field(NONE, 'status', 'nominatedNodeName')),
  wideColumn('Readiness Gates', gatesText),
];
