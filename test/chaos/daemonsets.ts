import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { RolloutPlanSpec } from '../../src/words/index.ts';
import type { Api } from '../conformance/kit/api.ts';
import { type CaseKind, kinds } from '../conformance/kit/kinds.ts';
import { budgetKey, type PodView, type Shape, toPodView } from '../conformance/kit/objects.ts';
import { planKey, planObject, plansPath } from '../conformance/kit/plans.ts';
import { type SetName, setNames } from './plan.ts';

interface SetTerms {
  kind: CaseKind;
  shape: Shape;
}

/** Several nodes are updated at a time, and a rollout takes some seconds. */
const BUDGET = 4;
const podAnnotations = { 'sim.edgeset.io/start-ms': '600' };

/** Managers are killed, stopped and cut off while a stage soaks, and between two stages. */
const PLAN = 'rings';
const plan: RolloutPlanSpec = {
  stages: [
    { name: 'canary', nodes: { count: 3 }, promote: { soak: '2s' } },
    { name: 'half', nodes: { count: '50%' }, maxUnavailable: 3 },
  ],
};

const terms: Readonly<Record<SetName, SetTerms>> = {
  native: { kind: 'native', shape: { annotations: { [budgetKey]: String(BUDGET), [planKey]: PLAN } } },
  recreate: { kind: 'advanced', shape: { rollingUpdate: { maxUnavailable: BUDGET } } },
  'in-place': {
    kind: 'advanced',
    shape: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: BUDGET } },
  },
  surge: {
    kind: 'advanced',
    shape: {
      annotations: { [planKey]: PLAN },
      rollingUpdate: { rollingUpdateType: 'Surging', maxSurge: BUDGET },
    },
  },
};

/** For the checks. */
export const checkedDaemonSets = setNames.map((name) => ({ name, kind: terms[name].kind, budget: BUDGET }));

export const groupOf = (set: SetName): string => kinds[terms[set].kind].group;

/** Creates, changes and reads the DaemonSets of a run. */
export const createDaemonSets = (api: Api, namespace: string) => {
  const pathOf = (set: SetName): string => `${kinds[terms[set].kind].path(namespace)}/${set}`;
  return {
    async create(): Promise<void> {
      await api.create(plansPath(namespace), planObject(PLAN, plan));
      for (const name of setNames) {
        const { kind, shape } = terms[name];
        const made = kinds[kind].make(namespace, { name, podAnnotations, ...shape });
        await api.create(kinds[kind].path(namespace), made);
      }
    },
    async release(set: SetName, image: string): Promise<void> {
      await api.edit(pathOf(set), [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }]);
    },
    /** Of an Advanced DaemonSet. */
    async roll(set: SetName, rollingUpdate: object): Promise<void> {
      await api.merge(pathOf(set), { spec: { updateStrategy: { rollingUpdate } } });
    },
    /** Of an Advanced DaemonSet: how many nodes at a time. */
    budgetOf: (set: SetName, nodes: number): object =>
      set === 'surge' ? { maxSurge: nodes } : { maxUnavailable: nodes },
    async pods(set: SetName): Promise<PodView[]> {
      const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${set}`;
      return (await api.get<{ items: Pod[] }>(path)).items.map(toPodView);
    },
    generation: async (set: SetName): Promise<number | undefined> =>
      (await api.get<Pod>(pathOf(set))).metadata?.generation,
    rolloutPath: (set: SetName): string =>
      `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/${kinds[terms[set].kind].rolloutName(set)}`,
  };
};
export type DaemonSets = ReturnType<typeof createDaemonSets>;
