import { after, before, describe, it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { type Api, openApi } from './api.ts';
import type { Case, CaseOptions } from './case.ts';
import { openCase } from './open-case.ts';
import { until } from './until.ts';

export interface Rule {
  /** What the product must do, in one sentence. */
  name: string;
  /** Disturbs other cases: runs alone. */
  forAll: boolean;
  options: CaseOptions;
  test: (c: Case) => Promise<void>;
}

type Add = (name: string, test: Rule['test'], options?: CaseOptions & { forAll?: boolean }) => void;

/** The rules of one section; `common` are the default options of all of them. */
export const section = (title: string, define: (rule: Add) => void, common: CaseOptions = {}): Rule[] => {
  const rules: Rule[] = [];
  define((name, test, { forAll = false, ...options } = {}) =>
    rules.push({ name: `${title}: ${name}`, forAll, options: { ...common, ...options }, test }));
  return rules;
};

/** The rules whose names contain these words, exactly one rule for each. */
export const quick = (rules: readonly Rule[], words: readonly string[]): Rule[] =>
  words.map((some) => {
    const [rule, ...others] = rules.filter(({ name }) => name.includes(some));
    if (!rule || others.length > 0) throw new Error(`"${some}" matches ${rule ? 'several rules' : 'no rule'}`);
    return rule;
  });

/** A healthy node outside of all cases: without it, a case whose nodes are all offline would look like a broken control plane. */
const anchor = 'anchor';

/** Runs the rules on their own cluster: several at a time, then those that disturb others one by one. */
export const runSuite = (title: string, startCluster: () => Promise<Cluster>, rules: readonly Rule[]): void => {
  describe(title, () => {
    let cluster: Cluster;
    let api: Api;
    before(async () => {
      cluster = await startCluster();
      api = await openApi(cluster.kubeconfig);
      await cluster.addNodes([anchor], {
        taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
      });
      // The first manager installs the CRDs, and a new kind is refused for a moment.
      const first = await cluster.startManager({ namespace: 'default', args: ['--leader-elect=false'] });
      for (const kind of ['edgeset.io/v1alpha1/daemonrollouts', 'apps.kruise.io/v1beta1/daemonsets'])
        await until(`${kind} are served`, () => api.get(`/apis/${kind}`));
      await first.stop();
    });
    after(async () => {
      await api?.close();
      await cluster?.stop();
    });

    const add = ({ name, options, test }: Rule): void => {
      it(name, { timeout: 240_000 }, async (context) => {
        const opened = await openCase(cluster, api, options);
        try {
          await test(opened.case);
          await opened.finish();
        } catch (error) {
          const { outages, words } = await opened.diagnostics();
          for (const some of words) context.diagnostic(`${opened.case.namespace}:\n${some}`);
          // In the summary of all failures, too: nodes that went offline by themselves explain most of what follows.
          if (outages !== '' && error instanceof Error)
            error.message += `\n${outages.split('\n').slice(-10).join('\n')}`;
          throw error;
        } finally {
          await opened.close();
        }
      });
    };
    describe('side by side', { concurrency: Number(process.env.EDGESET_TEST_CASES ?? 6) }, () => {
      rules.filter(({ forAll }) => !forAll).forEach(add);
    });
    describe('one by one', { concurrency: 1 }, () => {
      rules.filter(({ forAll }) => forAll).forEach(add);
    });
  });
};
