import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { Call } from '../network/call.ts';
import type { Check, CheckContext } from './check.ts';

const NEEDED = ['nodes', 'pods', 'daemonsets'] as const;

interface Versioned {
  metadata?: ObjectMeta;
}

/** The version of the object that a write is bound to. */
const boundTo = ({ body, options }: Call): number => {
  const { preconditions } = (options ?? {}) as { preconditions?: { resourceVersion?: string } };
  return Number(
    preconditions?.resourceVersion ?? (body as Versioned | undefined)?.metadata?.resourceVersion ?? Number.NaN,
  );
};

/**
 * What came of a pull is told by a part of the manager that has no share in acts, and hears of pods by a watch of its own.
 * An act by what was before cannot be carried out: it is bound to that version.
 */
const isReport = ({ body }: Call): boolean =>
  (body as Pod | undefined)?.status?.conditions?.some(
    ({ type, reason }) => type === 'PodImageReady' && (reason === 'PullImageSuccess' || reason === 'PullImageFail'),
  ) ?? false;

const GATES: ReadonlySet<string> = new Set(['InPlaceUpdateReady', 'KruisePodReady']);

const gatesThat = (are: 'True' | 'False', object: unknown): string[] =>
  ((object as Pod | undefined)?.status?.conditions ?? []).flatMap(({ type, status }) =>
    GATES.has(type) && status === are ? [type] : [],
  );

/**
 * S8: nothing is begun by a process before it has seen everything once, and nothing on an object that it has itself written
 * since what it goes by. And a pod that somebody has taken out of service comes back into it by who has read that alone.
 */
export const createStalenessCheck = ({ report, rolloutName }: CheckContext): Check => {
  const { check, violation } = report;
  /** What was seen as a whole, by process. */
  const seen = new Map<string, Set<string>>();
  /** Versions that answers to own writes told, by process and object. */
  const own = new Map<string, number>();
  /** Names of pods whose gates were shut until their last version. */
  const opened = new Set<string>();
  const keyOf = ({ process, resource, ref }: Call): string => `${process} ${resource?.plural} ${ref?.name}`;

  const note = (process: string, plural: string): void => {
    const known = seen.get(process) ?? new Set();
    seen.set(process, known.add(plural));
  };
  const judgeVersion = (call: Call, what: string): void => {
    const last = own.get(keyOf(call));
    const version = boundTo(call);
    if (last === undefined || Number.isNaN(version)) return;
    check('S8');
    if (version < last) violation('S8', `${what} by version ${version}, though its own write made it ${last}`);
  };
  return {
    onWatchEvent(process, _watch, plural, event) {
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) note(process, plural);
    },
    onResponse(call, object) {
      const { verb, resource } = call;
      if (!resource || !object || verb === 'get' || isReport(call)) return;
      if (verb === 'list') {
        note(call.process, resource.plural);
        return;
      }
      const version = Number((object as Versioned).metadata?.resourceVersion);
      const key = keyOf(call);
      if (!Number.isNaN(version)) own.set(key, Math.max(version, own.get(key) ?? 0));
    },
    onSend(call) {
      // A word about the rollout alone is refused when it is late, and does nobody harm.
      const { status } = (call.body ?? {}) as { status?: { reservations?: readonly unknown[] } };
      if (call.verb === 'update' && call.ref?.name === rolloutName && (status?.reservations?.length ?? 0) > 0)
        judgeVersion(call, `${call.process} writes ${call.ref?.name}`);
    },
    onCommit({ resource, object, previous }) {
      if (resource.plural !== 'pods') return;
      const open = gatesThat('True', object);
      if (gatesThat('False', previous).some((name) => open.includes(name))) opened.add(object.metadata.name);
    },
    onExecuted(call) {
      const { verb, resource, ref, process } = call;
      if (verb !== 'patch' || resource?.plural !== 'pods' || !opened.delete(ref?.name ?? '')) return;
      check('S8');
      if (Number.isNaN(boundTo(call)))
        violation('S8', `${process} opens a gate of ${ref?.name} that is shut, whatever version the pod is of`);
    },
    onUpdateSent({ call, what }) {
      check('S8');
      const missing = NEEDED.filter((plural) => !seen.get(call.process)?.has(plural));
      if (missing.length > 0) violation('S8', `${what} before it has seen all ${missing.join(', ')}`);
      judgeVersion(call, what);
    },
  };
};
