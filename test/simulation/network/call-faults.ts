import type { CallMatch, Plan, PlannedStep } from '../plan/plan.ts';
import type { Call, CallFault } from './call.ts';

export interface CallFaultsOptions {
  plan: Plan;
  /** Called when a fault has found the call that it waited for. */
  fire: (step: PlannedStep) => void;
  count: (what: string) => void;
  say: (line: string) => void;
}

/** A fault that waits for the call that it is for. */
interface Armed {
  fault: CallFault;
  of: CallMatch;
  step: PlannedStep;
}

const isCounted = ({ verb, resource }: Call): boolean =>
  verb !== 'get' && verb !== 'list' && resource?.plural !== 'leases' && resource?.plural !== 'events';

/** Counts what processes write, and says which write meets a fault. */
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
  const tell = (fault: CallFault | undefined, what: string): CallFault | undefined => {
    if (!fault) return undefined;
    count(fault.kind);
    say(`fault ${JSON.stringify(fault)} at ${what}`);
    return fault;
  };

  return {
    /** For the next call that fits. */
    arm(fault: CallFault, of: CallMatch, step: PlannedStep): void {
      if (!armed.some((each) => each.step === step)) armed.push({ fault, of, step });
    },
    /** To be asked once a call, before it leaves. */
    of(call: Call): CallFault | undefined {
      if (!isCounted(call)) return undefined;
      return tell(atWrite() ?? takeArmed(call), `${call.process} ${call.verb} ${call.resource?.plural ?? ''}`);
    },
    /** To be asked once a record that a process makes durable on its disk. */
    ofRecord: (process: string): CallFault | undefined => tell(atWrite(), `${process} syncs its disk`),
    /** Of all processes, those included that never arrive. */
    writes: () => writes,
  };
};
