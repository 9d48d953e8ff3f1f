import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import {
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  type RolloutReading,
  readRollout,
} from '../../../controller/index.ts';
import type {
  CallOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectRef,
  Resource,
  WriteOptions,
} from '../../../kube/index.ts';
import type { OutsideHold, ParsedPolicy } from '../../../rollout/index.ts';
import type { Clock } from '../../../runtime/index.ts';
import type { CommandError } from '../errors.ts';

/** What DaemonSets of all kinds have, as far as a command line looks at it. */
export interface DaemonSetLike extends KubeObject {
  spec?: {
    selector?: LabelSelector;
    template?: PodTemplateSpec;
    updateStrategy?: { type?: string };
  };
  status?: { observedGeneration?: number };
}

/** What a patch is refused for when it is not so any more. */
export interface Precondition {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** What `plan` may decide with in place of what the DaemonSet says; undefined leaves that. */
export interface Overrides {
  maxUnavailable?: string | undefined;
  partition?: string | undefined;
  nodeSelector?: string | undefined;
  unpaused?: boolean | undefined;
}

/** A DaemonSet as it was read, whatever its kind. */
export interface DaemonSetState {
  object: DaemonSetLike;
  policy: ParsedPolicy;
  /** `unreadable`: it holds the rollout, for nobody knows what it asks for. */
  pause: 'on' | 'off' | 'unreadable';
}

/** A rollout as `readRollout` reads it, and what else is to be said of this kind. */
export interface Reading extends RolloutReading {
  kind: DaemonSetKind;
  notes: readonly string[];
}

export interface ReadingOptions {
  client: KubeClient;
  clock: Clock;
  namespace: string;
  name: string;
  overrides: Overrides;
}

/** A kind of DaemonSet: what commands have to know of it, and what they do in its own way. */
export interface DaemonSetKind {
  /** As kubectl names its objects. */
  label: string;
  /** As a person is told to name them: `ds`, `ads`. */
  short: string;
  /** In sentences. */
  title: string;
  resource: Resource<DaemonSetLike>;
  rolloutName(daemonSet: string): string;
  /** Its templates are recorded with defaults that the DaemonSet itself does not show. */
  recordsDefaults: boolean;
  /** Who records templates and makes pods. */
  podController: string;
  /** Why nobody acts where no manager has recorded anything. */
  noManagerHint: string;
  /** The Event that tells that the API server refused an act. */
  failureEvents: string;
  get(client: KubeClient, ref: ObjectRef, call?: CallOptions): Promise<DaemonSetState>;
  list(client: KubeClient, where: ListOptions): Promise<DaemonSetState[]>;
  /** Undefined for one that is not served. */
  read(options: ReadingOptions): Promise<Reading | undefined>;
  /** Where an override is written, as errors of the policy name it. */
  fields: Readonly<Record<keyof Overrides, string>>;
  notServed(namespace: string, name: string): Error;
  notFound(namespace: string, name: string, cause: unknown): CommandError;
  /** Merge patch that begins or ends a pause. */
  pausePatch(on: boolean): { metadata?: { annotations: Record<string, string | null> }; spec?: object };
  /** One write; refused with Conflict unless the DaemonSet is as it was read. Resolves with the DaemonSet as written. */
  putTemplate(
    client: KubeClient,
    precondition: Precondition,
    change: { template: object; annotations: Readonly<Record<string, string | null>> },
    write: WriteOptions & { fieldManager: string },
  ): Promise<DaemonSetLike>;
}

/** What differs from kind to kind, where the objects' own type is known. */
export interface KindSpec<D, V> extends Omit<DaemonSetKind, 'resource' | 'rolloutName' | 'get' | 'list' | 'read'> {
  policyOf: (daemonSet: D) => ParsedPolicy;
  pauseOf: (daemonSet: D) => DaemonSetState['pause'];
  /** As the DaemonSet would be with the overrides. */
  overridden: (daemonSet: D, overrides: Overrides) => D;
  notes: (reading: RolloutReading & { view: V }) => string[];
  /** What the manager would find in its way, besides the DaemonSet itself. */
  obstacle?: (client: KubeClient, clock: Clock, view: V) => Promise<OutsideHold | undefined>;
}

/** Ties a kind that the controllers serve to its own ways on the command line. */
export const defineKind = <D extends DaemonSetLike & DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  { policyOf, pauseOf, overridden, notes, obstacle, ...ways }: KindSpec<D, V>,
): DaemonSetKind => {
  const toSubject = (object: D): DaemonSetState => ({ object, policy: policyOf(object), pause: pauseOf(object) });
  const self: DaemonSetKind = {
    ...ways,
    resource: kind.resource,
    rolloutName: (daemonSet) => kind.rolloutName(daemonSet),
    get: async (client, ref, call = {}) => toSubject(await client.get(kind.resource, ref, call)),
    list: async (client, where) => (await client.list(kind.resource, where)).items.map(toSubject),
    async read({ client, clock, namespace, name, overrides }) {
      const reading = await readRollout(kind, {
        client,
        clock,
        namespace,
        name,
        as: (daemonSet) => overridden(daemonSet, overrides),
        ...(obstacle && { obstacle: (view) => obstacle(client, clock, view) }),
      });
      return reading && { ...reading, kind: self, notes: notes(reading) };
    },
  };
  return self;
};
