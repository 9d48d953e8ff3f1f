import { isDeepStrictEqual } from 'node:util';
import { type CallOptions, defineResource, isKubeError, type KubeClient } from '../../kube/index.ts';
import { controllerOf, reasonOfHold } from '../../rollout/index.ts';
import { type DaemonRollout, type DaemonRolloutStatus, daemonRolloutApi, FIELD_MANAGER } from '../../words/index.ts';
import { controllingDaemonSet, type DaemonSetRef } from '../kind.ts';

const { group, version, plural, kind } = daemonRolloutApi;
export const daemonRollouts = defineResource<DaemonRollout>({ group, version, plural, kind, namespaced: true });

/**
 * For a write that follows from what was observed: if the API server did not look at it, it is decided on again, and not
 * repeated. By then the DaemonSet may be paused, the node offline, or the status another one.
 */
export const decidedOnAgain = { mayRepeat: () => false } as const;

const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** Reason of the conditions of a DaemonRollout that no manager keeps up to date. */
export const NOT_MANAGED = 'NotManaged';

/** The status describes the present: it must be kept up to date, or taken back. */
export const saysManaged = (status: DaemonRolloutStatus | undefined): boolean =>
  status?.conditions?.some(({ reason }) => reason !== NOT_MANAGED && reason !== reasonOfHold.deleted) ?? false;

/** Its DaemonSet was deleted with --cascade=orphan: the garbage collector removed the owner, and keeps the object. */
export const isOrphaned = (rollout: DaemonRollout): boolean =>
  isByManager(rollout) && (rollout.metadata.ownerReferences ?? []).length === 0;

const isByManager = ({ metadata }: DaemonRollout): boolean => metadata.labels?.[MANAGED_BY] === FIELD_MANAGER;

/** Removes a DaemonRollout that no DaemonSet owns, unless somebody has changed it since it was read. */
export const removeRollout = async (
  client: Pick<KubeClient, 'delete'>,
  { metadata: { namespace = '', name = '', uid, resourceVersion } }: DaemonRollout,
  options: CallOptions,
): Promise<void> => {
  try {
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    await client.delete(daemonRollouts, { namespace, name }, { preconditions, ...options });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
};

/** Why a DaemonRollout cannot be used. */
export class RolloutObjectError extends Error {
  /**
   * `NotOurs`: it belongs to a deleted DaemonSet, and the garbage collector has not removed it yet. `NotKept`: the API
   * server dropped the reservations, so no update may start.
   */
  readonly code: 'NotOurs' | 'NotKept';
  constructor(code: RolloutObjectError['code'], message: string) {
    super(message);
    this.name = 'RolloutObjectError';
    this.code = code;
  }
}

/**
 * The DaemonRollout of one DaemonSet as its leader holds it: every write is a compare-and-swap on the version that was
 * read or written last, so that only one of two leaders can reserve a slot.
 */
export const createRolloutObject = (client: KubeClient, owner: DaemonSetRef) => {
  const { namespace, uid, rolloutName: name } = owner;
  let held: DaemonRollout | undefined;

  /** An older manager let a native DaemonSet have the name of the DaemonRollout of an Advanced one: nobody needs it. */
  const isOfOtherKind = (object: DaemonRollout): boolean => {
    const [ofKind = ''] = owner.apiVersion.split('/');
    const isOurs = controllingDaemonSet(object, { group: ofKind, kind: owner.kind }) !== undefined;
    return isByManager(object) && controllerOf(object)?.kind === owner.kind && !isOurs;
  };

  const newObject = (): DaemonRollout => ({
    apiVersion: `${group}/${version}`,
    kind,
    metadata: {
      name,
      namespace,
      labels: { [MANAGED_BY]: FIELD_MANAGER },
      ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid, controller: true }],
    },
  });

  const readOrCreate = async (options: CallOptions): Promise<DaemonRollout> => {
    try {
      return await client.get(daemonRollouts, { namespace, name }, options);
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    return client.create(daemonRollouts, newObject(), { ...options, fieldManager: FIELD_MANAGER });
  };

  return {
    get status(): DaemonRolloutStatus | undefined {
      return held?.status;
    },
    /** Changes with every write, by any client. */
    get version(): string | undefined {
      return held?.metadata.resourceVersion;
    },
    get generation(): number {
      return held?.metadata.generation ?? 1;
    },
    get loaded(): boolean {
      return held !== undefined;
    },
    /**
     * Reads the object, or creates it. Throws `NotOurs` while the object of an earlier DaemonSet is still there; replaces
     * one that such a DaemonSet orphaned, or that a DaemonSet of another kind has.
     */
    async load(options: CallOptions): Promise<DaemonRolloutStatus | undefined> {
      let object = await readOrCreate(options);
      if (isOrphaned(object) || isOfOtherKind(object)) {
        await removeRollout(client, object, options);
        object = await readOrCreate(options);
      }
      if (!object.metadata?.ownerReferences?.some((reference) => reference.uid === uid))
        throw new RolloutObjectError('NotOurs', `DaemonRollout ${name} belongs to another DaemonSet of the same name`);
      held = object;
      return object.status;
    },
    /** Forgets what was read: the next write must be preceded by a load. */
    forget(): void {
      held = undefined;
    },
    /**
     * Rejects with Conflict if another client has written since, and with `NotKept` if the API server did not store the
     * reservations, which happens with the CRD of another version.
     */
    async write(status: DaemonRolloutStatus, options: CallOptions): Promise<void> {
      if (!held) throw new Error('the DaemonRollout must be loaded before it is written');
      const written = await client.replace(
        daemonRollouts,
        { ...held, status },
        { ...options, subresource: 'status', fieldManager: FIELD_MANAGER, ...decidedOnAgain },
      );
      if (!isDeepStrictEqual(written.status?.reservations ?? [], status.reservations ?? []))
        throw new RolloutObjectError(
          'NotKept',
          'the API server does not keep the reservations of a DaemonRollout: install the CRD of this version with `npx edgeset crds | kubectl apply -f -`',
        );
      held = written;
    },
  };
};
