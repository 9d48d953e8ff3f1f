// Applications as deploy/multicluster/ocm has them, each under a name of its own, with waits of seconds.

import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { eventually } from '../../../support/index.ts';
import { type Json, orMissing } from '../../api.ts';
import type { Condition } from './ocm.ts';
import { type Member, NAMESPACE, type Rig } from './rig.ts';
import { shipped } from './shipped.ts';

const SETS = `/apis/work.open-cluster-management.io/v1alpha1/namespaces/${NAMESPACE}/manifestworkreplicasets`;
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces';
const within = { withinMs: 120_000, everyMs: 200 };

interface Manifest extends Json {
  kind: string;
  metadata: Json & { annotations?: Record<string, string> };
  spec?: Json;
}

/** Of checkout.yaml, what tests change. */
export interface ReplicaSet extends Json {
  spec: {
    placementRefs: { name: string; rolloutStrategy: { type: string; progressivePerGroup?: Json } }[];
    manifestWorkTemplate: {
      deleteOption?: object;
      manifestConfigs: {
        resourceIdentifier: object;
        conditionRules: { condition: string; type: string; celExpressions: string[] }[];
      }[];
      workload: {
        manifests: Manifest[];
      };
    };
  };
}

const replaced = (text: string, from: string, to: string): string => {
  assert.ok(text.includes(from), `checkout.yaml has ${from}`);
  return text.replaceAll(from, to);
};

/** checkout.yaml for another application and another release. */
export const replicaSet = async (name: string, release: string): Promise<ReplicaSet> => {
  const changes = [
    ['checkout', name],
    ['1.4.0', release],
    ['minReadySeconds: 60', 'minReadySeconds: 1'],
    ['minSuccessTime: 10m', 'minSuccessTime: 1s'],
  ] as const;
  return parse(
    changes.reduce((text, [from, to]) => replaced(text, from, to), await shipped('checkout.yaml')),
  ) as ReplicaSet;
};

export interface Work {
  metadata: { uid: string; generation: number; deletionTimestamp?: string };
  spec: {
    deleteOption?: { propagationPolicy: string };
    workload: { manifests: { metadata: { annotations?: Record<string, string> } }[] };
  };
  status?: {
    conditions?: Condition[];
    resourceStatus?: { manifests?: { resourceMeta: { kind: string }; conditions: Condition[] }[] };
  };
}

/** The status of a condition that is about the work as it is now. */
export const statusOf = ({ metadata, status }: Work, type: string): string | undefined =>
  status?.conditions?.find((each) => each.type === type && each.observedGeneration === metadata.generation)?.status;

/** As the hub sees it: the release is applied, and the rules say that it works. */
export const isSucceeded = (work: Work): boolean =>
  statusOf(work, 'Applied') === 'True' && statusOf(work, 'Progressing') === 'False';

export const isFailed = (work: Work): boolean =>
  statusOf(work, 'Progressing') === 'True' && statusOf(work, 'Degraded') === 'True';

const RELEASE = 'example.com/release';

interface Pod {
  metadata: { uid: string };
  spec: { containers: { image: string }[] };
}

export interface Application {
  readonly name: string;
  /** Applies it in this release. */
  release(release: string, change?: (set: ReplicaSet) => void): Promise<void>;
  /** Of this member on the hub; undefined where it has none. */
  work(member: string): Promise<Work | undefined>;
  /** The release that a work asks for. */
  releaseOf(work: Work | undefined): string | undefined;
  /** The release that the hub wants on this member; undefined where it has none. */
  wanted(member: string): Promise<string | undefined>;
  /** Waits until all pods of this member run the release. */
  runs(release: string, ...members: string[]): Promise<void>;
  /** Releases of the pods of a member, each once, sorted. */
  running(member: string): Promise<string[]>;
  /** UIDs of the pods of a member, sorted. */
  pods(member: string): Promise<string[]>;
  /** Waits until the work of this member is as the test says. */
  until(what: string, member: string, test: (work: Work) => boolean): Promise<Work>;
  daemonSet<T = Json>(member: string): Promise<T>;
  /** Deletes it from the hub and from the members. */
  remove(): Promise<void>;
}

const memberOf = ({ members }: Rig, name: string): Member => {
  const member = members.get(name);
  assert.ok(member, `the rig has a member ${name}`);
  return member;
};

/** How a set rolls out to its rings. */
export const strategyOf = ({ spec }: ReplicaSet): Json => {
  const strategy = spec.placementRefs[0]?.rolloutStrategy.progressivePerGroup;
  assert.ok(strategy, 'checkout.yaml has a strategy');
  return strategy;
};

const releaseOf = (work: Work | undefined): string | undefined =>
  work?.spec.workload.manifests
    .map(({ metadata }) => metadata.annotations?.[RELEASE])
    .find((release) => release !== undefined);

export const createApplication = (rig: Rig, name: string): Application => {
  const { api } = rig.hub;
  const work = (member: string): Promise<Work | undefined> =>
    orMissing(api.get<Work>(`${WORKS}/${member}/manifestworks/${name}`));
  const podsOf = async (member: string): Promise<Pod[]> =>
    (await memberOf(rig, member).api.get<{ items: Pod[] }>(`/api/v1/namespaces/${name}/pods`)).items;
  const running = async (member: string): Promise<string[]> => {
    const images = (await podsOf(member)).flatMap(({ spec }) =>
      spec.containers.map(({ image }) => image.replace(/^.*:/, '')),
    );
    return [...new Set(images)].toSorted();
  };
  return {
    name,
    work,
    running,
    pods: async (member) => (await podsOf(member)).map(({ metadata }) => metadata.uid).toSorted(),
    async release(release, change = () => undefined) {
      const set = await replicaSet(name, release);
      change(set);
      await api.apply(`${SETS}/${name}`, set);
    },
    releaseOf,
    wanted: async (member) => releaseOf(await work(member)),
    async runs(release, ...members) {
      for (const member of members)
        await eventually(
          `all pods of ${name} on ${member} run ${release}`,
          async () => {
            const releases = await running(member);
            assert.deepEqual(releases, [release]);
            return true;
          },
          within,
        );
    },
    until: (what, member, test) =>
      eventually(
        `${name} on ${member}: ${what}`,
        async () => {
          const now = await work(member);
          if (now && test(now)) return now;
          throw new Error(JSON.stringify(now?.status?.conditions));
        },
        within,
      ),
    daemonSet: (member) => memberOf(rig, member).api.get(`/apis/apps/v1/namespaces/${name}/daemonsets/${name}`),
    async remove() {
      await api.delete(`${SETS}/${name}`);
      for (const [member, { api: of }] of rig.members) {
        await eventually(`the work of ${name} on ${member} is gone`, async () => !(await work(member)), within);
        await orMissing(of.delete(`/apis/apps/v1/namespaces/${name}/daemonsets/${name}`));
      }
    },
  };
};
