import type { NodeBehaviour, NodeSpec } from '../../conformance/index.ts';

export interface ApiObject {
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

/** The kinds that scenarios use. */
export type Plural = 'pods' | 'nodes' | 'daemonsets' | 'controllerrevisions' | 'events' | 'serviceaccounts';

/** The part of a real or embedded cluster that a scenario uses. */
export interface ScenarioCluster {
  readonly namespace: string;
  /** `<namespace>-<number>`, with the label `case: <namespace>`. */
  readonly nodes: readonly string[];
  get(plural: Plural, name: string): Promise<ApiObject>;
  list(plural: Plural): Promise<readonly ApiObject[]>;
  create(plural: Plural, object: object): Promise<ApiObject>;
  /** JSON merge patch. */
  patch(plural: Plural, name: string, body: object, subresource?: string): Promise<ApiObject>;
  remove(plural: Plural, name: string, options?: object): Promise<void>;
  addNodes(names: readonly string[], spec?: NodeSpec): Promise<void>;
  offline(names: readonly string[]): Promise<void>;
  online(names: readonly string[]): Promise<void>;
  behave(names: readonly string[], behaviour: NodeBehaviour | undefined): Promise<void>;
  /** Resolves once the probe returns true; rejects on timeout. */
  until(what: string, probe: () => Promise<unknown>): Promise<void>;
  /** Resolves when the namespace hasn't changed for a while. */
  untilIdle(): Promise<void>;
}

export type OpenCluster = (count: number) => Promise<ScenarioCluster>;

export const versions: Record<Plural, { group: string; version: string; namespaced: boolean }> = {
  pods: { group: '', version: 'v1', namespaced: true },
  nodes: { group: '', version: 'v1', namespaced: false },
  events: { group: '', version: 'v1', namespaced: true },
  serviceaccounts: { group: '', version: 'v1', namespaced: true },
  daemonsets: { group: 'apps', version: 'v1', namespaced: true },
  controllerrevisions: { group: 'apps', version: 'v1', namespaced: true },
};
