import type { NodeBehaviour, NodeSpec } from '../../conformance/index.ts';

/** Any object of the API. */
export interface Thing {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    generateName?: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { kind: string; name: string; uid: string; controller?: boolean; blockOwnerDeletion?: boolean }[];
    creationTimestamp?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    resourceVersion?: string;
  };
  [field: string]: unknown;
}

/** Kinds that situations speak of. */
export type Plural = 'pods' | 'nodes' | 'daemonsets' | 'controllerrevisions' | 'events' | 'serviceaccounts';

/** One situation's part of a cluster, whichever cluster it is. */
export interface Stage {
  readonly namespace: string;
  /** `<namespace>-<number>`, with the label `case: <namespace>`. */
  readonly nodes: readonly string[];
  get(plural: Plural, name: string): Promise<Thing>;
  list(plural: Plural): Promise<readonly Thing[]>;
  create(plural: Plural, object: object): Promise<Thing>;
  /** JSON merge patch. */
  patch(plural: Plural, name: string, body: object, subresource?: string): Promise<Thing>;
  remove(plural: Plural, name: string, options?: object): Promise<void>;
  addNodes(names: readonly string[], spec?: NodeSpec): Promise<void>;
  offline(names: readonly string[]): Promise<void>;
  online(names: readonly string[]): Promise<void>;
  behave(names: readonly string[], behaviour: NodeBehaviour | undefined): Promise<void>;
  /** Resolves once the probe holds; rejects when it does not in time. */
  until(what: string, probe: () => Promise<unknown>): Promise<void>;
  /** Resolves once nothing has changed for a while in the namespace. */
  quiet(): Promise<void>;
}

/** What is needed to open a stage of `count` nodes. */
export type OpenStage = (count: number) => Promise<Stage>;

export const versions: Record<Plural, { group: string; version: string; namespaced: boolean }> = {
  pods: { group: '', version: 'v1', namespaced: true },
  nodes: { group: '', version: 'v1', namespaced: false },
  events: { group: '', version: 'v1', namespaced: true },
  serviceaccounts: { group: '', version: 'v1', namespaced: true },
  daemonsets: { group: 'apps', version: 'v1', namespaced: true },
  controllerrevisions: { group: 'apps', version: 'v1', namespaced: true },
};
