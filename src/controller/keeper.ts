import { isKubeError } from '../kube/index.ts';
import { type Decision, type Ledger, restore, statusOf } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { saysManaged } from './daemon-rollout.ts';
import type { DaemonSetView } from './kind.ts';
import type { RolloutObject } from './rollout-object.ts';
import type { StatusWriter } from './status-writer.ts';

export interface KeeperOptions {
  object: RolloutObject;
  writer: StatusWriter;
  ledger: Ledger;
  clock: Clock;
  /** Of this process, unique among all that may ever lead. */
  identity: string;
}

/** Keeps the ledger and the DaemonRollout in step: what is acted on was written, and what was written is known. */
export const createKeeper = ({ object, writer, ledger, clock, identity }: KeeperOptions) => {
  /** The ledger holds what the DaemonRollout said, and all that we did since. */
  let authoritative = false;
  /** The DaemonRollout does not say yet what the ledger does about slots: nothing may be carried out before. */
  let unwritten = false;

  return {
    get unwritten(): boolean {
      return unwritten;
    },
    /**
     * The DaemonRollout says that the DaemonSet is managed: should that end while nobody runs, whoever comes next takes
     * back what was written to pods.
     */
    get claims(): boolean {
      return saysManaged(object.status);
    },
    /** Slots were reserved in the ledger. */
    reserved(): void {
      unwritten = true;
    },
    /** When a status that only informs may be written next. */
    dueAt: writer.dueAt,

    /** Brings the ledger to what the DaemonRollout says, unless the ledger is the newer of the two. */
    async takeOver(signal: AbortSignal): Promise<void> {
      if (object.loaded) return;
      const saved = await object.load({ signal });
      if (authoritative && saved === undefined) {
        // Somebody deleted the object under us, or it was never written: what we hold is the truth.
        unwritten = true;
        return;
      }
      const { state, updates, forgiven } = restore(saved);
      ledger.restore(state, updates, forgiven, clock.now());
      authoritative = true;
      // Open acts of another process are ours from the moment that our name is on the object: until then it may take one
      // back that we carry out, and give its slot away, with the version of the object that it still holds.
      unwritten = saved?.leader !== identity && [...updates.values()].some((act) => act.stage !== 'done');
    },

    /** Writes the status with the slots that were reserved; after a failure nothing of it is taken for granted. */
    async write(decision: Decision, view: DaemonSetView, signal: AbortSignal): Promise<void> {
      const { policy, generation } = view;
      const previous = object.status;
      // Only with slots does it matter who writes: a restart at rest must write nothing.
      const leader = unwritten ? identity : previous?.leader;
      const status = {
        ...statusOf({
          ledger,
          decision,
          generation,
          policyHash: policy.kind === 'on' ? policy.hash : '',
          previous,
          now: clock.now(),
        }),
        ...(leader !== undefined && { leader }),
      };
      try {
        await writer.write(status, unwritten, signal);
        unwritten = false;
      } catch (error) {
        const refused = isKubeError(error) && error.happened === 'no' && !isKubeError(error, 'Conflict', 'NotFound');
        if (!refused) object.forget();
        throw error;
      }
    },

    /** The watch says that the object is gone: it is read, or made, anew before anything else. */
    objectGone: (): void => object.forget(),

    /** Others may write the object from here on. */
    letGo(): void {
      object.forget();
      writer.letGo();
      authoritative = false;
      unwritten = false;
    },
  };
};
export type Keeper = ReturnType<typeof createKeeper>;
