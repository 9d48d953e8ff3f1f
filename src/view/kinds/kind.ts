import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { DaemonSetObject, DaemonSetView, Kind, OrderedDaemonSet } from '../../controller/index.ts';
import type {
  CallOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectRef,
  Resource,
  WriteOptions,
} from '../../kube/index.ts';
import type { DaemonSetName, OutsideHold, ParsedPolicy, Preceding, Predecessor } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { Connection } from '../connection.ts';
import type { CommandError } from '../errors.ts';
import type { ManagerState } from '../manager-lease.ts';
import { readRollout } from '../read-rollout.ts';
import type { RolloutReading } from '../rollout-display.ts';
import { type WatchRolloutOptions, watchRollout } from '../watch-rollout.ts';

interface DaemonSetCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  /** Of an Advanced DaemonSet. */
  observedGeneration?: number;
}

/** The fields that DaemonSets of both kinds have. */
export interface DaemonSetLike extends KubeObject {
  spec?: {
    selector?: LabelSelector;
    template?: PodTemplateSpec;
    updateStrategy?: { type?: string };
  };
  status?: { observedGeneration?: number; conditions?: readonly DaemonSetCondition[] };
}

/** A write fails with Conflict unless the object still has this UID and resourceVersion. */
export interface Precondition {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** Values that `plan` uses in place of the DaemonSet's own. */
export interface Overrides {
  maxUnavailable?: string | undefined;
  partition?: string | undefined;
  nodeSelector?: string | undefined;
  unpaused?: boolean | undefined;
}

/** A DaemonSet of either kind, as read from the API server. */
export interface DaemonSetState {
  object: DaemonSetLike;
  policy: ParsedPolicy;
  /** `unreadable`: the value is invalid, which also holds the rollout. */
  pause: 'on' | 'off' | 'unreadable';
}

/** What `readRollout` returns, with notes that are specific to the kind. */
export interface Reading extends RolloutReading {
  kind: DaemonSetKind;
  /** Read when something seems not to be the manager's work of the moment. */
  manager?: ManagerState;
  notes: readonly string[];
}

/** A rollout that is kept up to date by watches. */
export interface ReadingWatch {
  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Undefined while something is still being listed. */
  read(): Reading | 'not-managed' | undefined;
}

export interface ReadingOptions {
  client: KubeClient;
  clock: Clock;
  namespace: string;
  name: string;
  overrides: Overrides;
  /** Reads the DaemonSets that the plan names in `after`. Default: nodes are shown as if they had no predecessors. */
  preceding?: (predecessor: Predecessor) => Promise<Preceding | undefined>;
  /** Reads what the plan of a DaemonSet says in `after`. Default: cycles are for the manager to report. */
  afterOf?: (daemonSet: OrderedDaemonSet) => Promise<readonly Predecessor[]>;
}

/** What differs between native and Advanced DaemonSets for the commands. */
export interface DaemonSetKind {
  /** As kubectl prints it: `daemonset.apps`. */
  label: string;
  /** The short name that messages use. */
  short: DaemonSetName['short'];
  /** The name of the kind in sentences. */
  title: string;
  resource: Resource<DaemonSetLike>;
  rolloutName(daemonSet: string): string;
  /** Whether revisions record the template with defaults that the DaemonSet itself does not have. */
  recordsDefaults: boolean;
  /** Who records revisions and creates pods. */
  podController: string;
  /** What to check of a manager that has recorded no status: that it ... */
  servesHint: string;
  /** Reasons of the Events about writes that the API server rejected. */
  failureEvents: string;
  get(client: KubeClient, ref: ObjectRef, call?: CallOptions): Promise<DaemonSetState>;
  list(client: KubeClient, where: ListOptions): Promise<DaemonSetState[]>;
  /** Undefined for a DaemonSet that is not managed. */
  read(options: ReadingOptions): Promise<Reading | undefined>;
  watch(options: Omit<WatchRolloutOptions, 'outsideHold'>): ReadingWatch;
  /** The annotation or field of each override, as policy errors name it. */
  fields: Readonly<Record<keyof Overrides, string>>;
  notServed(namespace: string, name: string): Error;
  notFound(connection: Pick<Connection, 'namespace' | 'edgeset'>, name: string, cause: unknown): CommandError;
  /** A merge patch that pauses or unpauses the rollout. */
  pausePatch(on: boolean): { metadata?: { annotations: Record<string, string | null> }; spec?: object };
  /** The policy that the DaemonSet would have with the overrides. */
  policyWith(object: DaemonSetLike, overrides: Overrides): ParsedPolicy;
  /** A merge patch that sets the budget, the partition or both. */
  settingsPatch(
    object: DaemonSetLike,
    settings: Pick<Overrides, 'maxUnavailable' | 'partition'>,
  ): { metadata?: { annotations: Record<string, string> }; spec?: object };
  /** Writes the template in one request, if the precondition holds. Resolves with the written DaemonSet. */
  putTemplate(
    client: KubeClient,
    precondition: Precondition,
    change: { template: object; annotations: Readonly<Record<string, string | null>> },
    write: WriteOptions & { fieldManager: string },
  ): Promise<DaemonSetLike>;
}

/** What a kind defines, with the type of its objects. */
export interface KindSpec<D, V>
  extends Omit<
    DaemonSetKind,
    'resource' | 'short' | 'rolloutName' | 'get' | 'list' | 'read' | 'watch' | 'policyWith' | 'settingsPatch'
  > {
  policyOf: (daemonSet: D) => ParsedPolicy;
  pauseOf: (daemonSet: D) => DaemonSetState['pause'];
  /** The DaemonSet with the overrides applied. */
  overridden: (daemonSet: D, overrides: Overrides) => D;
  settingsPatch: (
    daemonSet: D,
    settings: Pick<Overrides, 'maxUnavailable' | 'partition'>,
  ) => ReturnType<DaemonSetKind['settingsPatch']>;
  notes: (reading: RolloutReading & { view: V }) => string[];
  /** What else would hold the rollout, besides the DaemonSet itself. */
  outsideHold?: (client: KubeClient, clock: Clock, view: V) => Promise<OutsideHold | undefined>;
}

/** Combines a controller's kind with its part of the command line. */
export const defineKind = <D extends DaemonSetLike & DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  { policyOf, pauseOf, overridden, settingsPatch, notes, outsideHold, ...ways }: KindSpec<D, V>,
): DaemonSetKind => {
  const toSubject = (object: D): DaemonSetState => ({ object, policy: policyOf(object), pause: pauseOf(object) });
  const self: DaemonSetKind = {
    ...ways,
    resource: kind.resource,
    short: kind.short,
    rolloutName: (daemonSet) => kind.rolloutName(daemonSet),
    get: async (client, ref, call = {}) => toSubject(await client.get(kind.resource, ref, call)),
    list: async (client, where) => (await client.list(kind.resource, where)).items.map(toSubject),
    // What `get` and `list` of this kind have returned.
    policyWith: (object, overrides) => policyOf(overridden(object as D, overrides)),
    settingsPatch: (object, settings) => settingsPatch(object as D, settings),
    async read({ client, clock, namespace, name, overrides, preceding, afterOf }) {
      const reading = await readRollout(kind, {
        client,
        clock,
        namespace,
        name,
        as: (daemonSet) => overridden(daemonSet, overrides),
        ...(preceding && { preceding }),
        ...(afterOf && { afterOf }),
        ...(outsideHold && { outsideHold: (view) => outsideHold(client, clock, view) }),
      });
      return reading && { ...reading, kind: self, notes: notes(reading) };
    },
    watch(options) {
      const { client, env } = options;
      const watch = watchRollout(kind, {
        ...options,
        ...(outsideHold && { outsideHold: (view) => outsideHold(client, env.clock, view) }),
      });
      return {
        run: (signal) => watch.run(signal),
        read() {
          const reading = watch.read();
          return reading && reading !== 'not-managed' ? { ...reading, kind: self, notes: notes(reading) } : reading;
        },
      };
    },
  };
  return self;
};
