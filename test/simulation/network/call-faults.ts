import type { CallMatch, Plan, PlannedStep } from '../plan/plan.ts';
import type { Call, CallFault } from './call.ts';

export interface CallFaultsOptions {
  plan: Plan;
  /** Called when a fault takes effect. */
  fire: (step: PlannedStep) => void;
  count: (what: string) => void;
  say: (line: string) => void;
}

/** A fault that waits for a matching call. */
interface Armed {
  fault: CallFault;
  of: CallMatch;
  step: PlannedStep;
}

const isCounted = ({ verb, resource }: Call): boolean =>
  verb !== 'get' &&
  verb !== 'list' &&
  verb !== 'watch' &&
  resource?.plural !== 'leases' &&
  resource?.plural !== 'events';

/** Counts the writes of processes, and decides which of them fail. */
export const createCallFaults = ({ plan, fire, count, say }: CallFaultsOptions) => {
  const armed: Armed[] = [];
  let writes = 0;

  const atWrite = (): CallFault | undefined => {
    writes += 1;
    return writes === plan.atWrite?.write ? plan.atWrite.fault : undefined;
  };
  const takeArmed = (call: Call): CallFault | undefined => {
    const index = armed.findIndex(
      ({ of }) =>
        (of.verb === undefined || of.verb === call.verb) &&
        (of.plural === undefined || of.plural === call.resource?.plural),
    );
    const [taken] = index < 0 ? [] : armed.splice(index, 1);
    if (taken) fire(taken.step);
    return taken?.fault;
  };
  const logged = (fault: CallFault | undefined, what: string): CallFault | undefined => {
    if (!fault) return undefined;
    count(fault.kind);
    say(`fault ${JSON.stringify(fault)} at ${what}`);
    return fault;
  };

  return {
    /** For the next matching call. */
    arm(fault: CallFault, of: CallMatch, step: PlannedStep): void {
      if (!armed.some((each) => each.step === step)) armed.push({ fault, of, step });
    },
    /** Called once for each call, before it is sent. */
    of(call: Call): CallFault | undefined {
      if (!isCounted(call)) return undefined;
      return logged(atWrite() ?? takeArmed(call), `${call.process} ${call.verb} ${call.resource?.plural ?? ''}`);
    },
    /** Called once for each record that a process syncs to its disk. */
    ofRecord: (process: string): CallFault | undefined => logged(atWrite(), `${process} syncs its disk`),
    /** Of all processes, including writes that never arrive. */
    writes: () => writes,
  };
};
export type CallFaults = ReturnType<typeof createCallFaults>;
