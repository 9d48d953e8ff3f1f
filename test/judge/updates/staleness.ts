import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { HASH_LABEL, hasCondition, IN_PLACE_GATE, LIFECYCLE_GATE, testsIn } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { reservationsIn } from './sender.ts';

const NEEDED = ['nodes', 'pods', 'daemonsets'] as const;

interface Versioned {
  metadata?: ObjectMeta;
}

/** The resourceVersion that a write depends on. */
const preconditionOf = ({ body, options }: Call): number =>
  Number(
    options?.preconditions?.resourceVersion ?? (body as Versioned | undefined)?.metadata?.resourceVersion ?? Number.NaN,
  );

/**
 * What a write lacks that depends on what a pod is in place of its version: it is the same pod, of the same revision, and has been out
 * of service since the same write.
 */
const lacking = (body: unknown): string[] => {
  const tests = testsIn(body);
  const at = [...(tests ?? [])].find(([, value]) => value === IN_PLACE_GATE)?.[0].replace(/type$/, '');
  const needed = { '/metadata/uid': 'UID', [`/metadata/labels/${HASH_LABEL}`]: 'revision', [`${at}message`]: 'claim' };
  const missing = Object.entries(needed).flatMap(([path, what]) => (tests?.get(path) ? [] : [what]));
  return tests?.get(`${at}status`) === 'False' ? missing : [...missing, 'closed gate'];
};

/**
 * The result of an image pull is written by a part of the manager that makes no updates and watches pods on its own. An
 * update that was decided before it cannot be executed: it depends on the version before.
 */
const isPullResult = ({ body }: Call): boolean =>
  (body as Pod | undefined)?.status?.conditions?.some(
    ({ type, reason }) => type === 'PodImageReady' && (reason === 'PullImageSuccess' || reason === 'PullImageFail'),
  ) ?? false;

const gatesWith = (status: 'True' | 'False', object: unknown): string[] =>
  [IN_PLACE_GATE, LIFECYCLE_GATE].filter((gate) => hasCondition(object as Pod | undefined, gate, status));

/**
 * S8: a process begins nothing before its initial sync, and nothing based on a version of an object that is older than its own
 * last write to it. Only a process that has read the present version of a pod puts the pod back into service.
 */
export const createStalenessCheck = ({ report, rolloutName }: CheckContext): Check => {
  const { check, violation } = report;
  /** By process: resources with an initial sync. */
  const synced = new Map<string, Set<string>>();
  /** By process and object: the version in the response to its last write. */
  const ownWrites = new Map<string, number>();
  /** Names of pods whose last version opened a gate. */
  const opened = new Set<string>();
  const keyOf = ({ process, resource, ref }: Call): string => `${process} ${resource?.plural} ${ref?.name}`;

  const noteSynced = (process: string, plural: string): void => {
    const known = synced.get(process) ?? new Set();
    synced.set(process, known.add(plural));
  };
  const checkVersion = (call: Call, what: string): void => {
    const last = ownWrites.get(keyOf(call));
    const version = preconditionOf(call);
    if (last === undefined || Number.isNaN(version)) return;
    check('S8');
    if (version < last) violation('S8', `${what} based on version ${version}, older than its own write ${last}`);
  };
  return {
    onWatchEvent(process, _watch, plural, event) {
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) noteSynced(process, plural);
    },
    onResponse(call, object) {
      const { verb, resource } = call;
      if (!resource || !object || verb === 'get' || isPullResult(call)) return;
      if (verb === 'list') {
        noteSynced(call.process, resource.plural);
        return;
      }
      const version = Number((object as Versioned).metadata?.resourceVersion);
      const key = keyOf(call);
      if (!Number.isNaN(version)) ownWrites.set(key, Math.max(version, ownWrites.get(key) ?? 0));
    },
    onSend(call) {
      // A stale status without reservations is refused with a conflict, and does no harm.
      if (call.verb === 'update' && call.ref?.name === rolloutName && reservationsIn(call.body).length > 0)
        checkVersion(call, `${call.process} writes ${call.ref?.name}`);
    },
    onCommit({ resource, object, previous }) {
      if (resource.plural !== 'pods') return;
      const open = gatesWith('True', object);
      if (gatesWith('False', previous).some((name) => open.includes(name))) opened.add(object.metadata.name);
    },
    onExecuted(call) {
      const { verb, resource, ref, process } = call;
      if (verb !== 'patch' || resource?.plural !== 'pods' || !opened.delete(ref?.name ?? '')) return;
      check('S8');
      if (Number.isNaN(preconditionOf(call)))
        violation('S8', `${process} opens a closed gate of ${ref?.name} without a resourceVersion precondition`);
    },
    onUpdateSent({ call, what }) {
      check('S8');
      const missing = NEEDED.filter((plural) => !synced.get(call.process)?.has(plural));
      if (missing.length > 0) violation('S8', `${what} before the initial sync of ${missing.join(', ')}`);
      checkVersion(call, what);
      if (testsIn(call.body) === undefined) return;
      check('S8');
      const lacks = lacking(call.body);
      if (lacks.length > 0)
        violation('S8', `${what} whatever its version, without its ${lacks.join(', ')} as a precondition`);
    },
  };
};
