// What the customizations that we ship for Karmada make of the copies of a DaemonSet in member clusters, by Karmada's own interpreter.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ask, customizations, findJudges, judge } from './judges.ts';

let program: string;

before(async () => {
  program = (await findJudges()).karmada;
});

interface Condition {
  type: string;
  status: string;
  message?: string;
}

interface Member {
  /** Generation of the template in the control plane that this cluster has. Default: the newest. */
  template?: number;
  /** What its conditions are about. Default: its own newest generation. */
  seen?: number;
  holds: readonly string[];
  updated?: number;
}

const apiVersions = ['apps/v1', 'apps.kruise.io/v1alpha1', 'apps.kruise.io/v1beta1'];

const template = (apiVersion: string) => ({
  apiVersion,
  kind: 'DaemonSet',
  metadata: {
    name: 'web',
    namespace: 'shop',
    generation: 4,
    annotations: { 'apps.openyurt.io/update-strategy': 'auto' },
  },
  spec: { updateStrategy: { type: 'OnDelete' } },
  status: { observedGeneration: 3 },
});

/** A copy in a member cluster, where generations are counted from 1. */
const copy = (apiVersion: string, { template: of = 4, seen = 7, holds, updated = 3 }: Member) => ({
  ...template(apiVersion),
  metadata: {
    ...template(apiVersion).metadata,
    generation: 7,
    annotations: {
      ...template(apiVersion).metadata.annotations,
      'resourcetemplate.karmada.io/generation': String(of),
    },
  },
  status: {
    observedGeneration: apiVersion === 'apps/v1' ? 7 : seen,
    currentNumberScheduled: 3,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: updated,
    numberReady: 3,
    numberAvailable: 3,
    conditions: ['Ready', 'Reconciling', 'Stalled', 'Paused'].map((type) => ({
      type,
      status: holds.includes(type) ? 'True' : 'False',
      ...(type === 'Ready' && { message: `Observed generation ${seen}.` }),
    })),
  },
});

interface Aggregated {
  observedGeneration: number;
  desiredNumberScheduled: number;
  updatedNumberScheduled: number;
  conditions?: Condition[];
}

const aggregate = async (apiVersion: string, members: readonly object[]): Promise<Aggregated> => {
  const question = { template: template(apiVersion), members, customizations: await customizations() };
  return (await ask<{ status: Aggregated }>(program, question)).status;
};

const holding = ({ conditions = [] }: Aggregated): string[] =>
  conditions.filter(({ status }) => status === 'True').map(({ type }) => type);

for (const apiVersion of apiVersions) {
  const status = (...members: Member[]) =>
    aggregate(
      apiVersion,
      members.map((member) => copy(apiVersion, member)),
    );

  test(`${apiVersion}: Ready once all clusters are, for the template of the control plane`, async () => {
    const ready = await status({ holds: ['Ready'] }, { holds: ['Ready'] });
    assert.deepEqual(holding(ready), ['Ready']);
    assert.deepEqual([ready.observedGeneration, ready.desiredNumberScheduled, ready.updatedNumberScheduled], [4, 6, 6]);
    assert.equal(ready.conditions?.[0]?.message, 'Observed generation 4.');
  });

  test(`${apiVersion}: a cluster with an older template, or that has not observed it, counts as on the way`, async () => {
    for (const late of [{ template: 3 }, { seen: 6 }]) {
      const waiting = await status({ holds: ['Ready'] }, { holds: ['Ready'], ...late });
      assert.deepEqual(holding(waiting), ['Reconciling']);
      assert.equal(waiting.observedGeneration, 3);
    }
  });

  test(`${apiVersion}: one that is halted makes it Stalled and names the cluster; an older halt counts for nothing`, async () => {
    const halted = await status({ holds: ['Ready'] }, { holds: ['Stalled'], updated: 1 });
    assert.deepEqual(holding(halted), ['Stalled']);
    assert.equal(halted.conditions?.find(({ type }) => type === 'Stalled')?.message, 'member2');
    const older = await status({ holds: ['Ready'] }, { holds: ['Stalled'], template: 3 });
    assert.deepEqual(holding(older), ['Reconciling']);
  });
}

test('the status for all clusters is judged by other tools as that of one', async () => {
  const said = async (...members: Member[]) => {
    const objects = members.map((member) => copy('apps/v1', member));
    const [verdicts] = await judge([{ ...template('apps/v1'), status: await aggregate('apps/v1', objects) }]);
    return [verdicts?.kstatus, verdicts?.script?.status, verdicts?.fleet, verdicts?.karmadaShipped];
  };
  assert.deepEqual(await said({ holds: ['Ready'] }, { holds: ['Ready'] }), ['Current', 'Healthy', 'Ready', 'Healthy']);
  assert.deepEqual(await said({ holds: ['Ready'] }, { holds: ['Stalled'] }), [
    'Failed',
    'Degraded',
    'Error',
    'Unhealthy',
  ]);
  assert.deepEqual((await said({ holds: ['Ready'] }, { holds: ['Ready'], template: 3 })).slice(0, 2), [
    'InProgress',
    'Progressing',
  ]);
});

test('a DaemonSet that did not opt in has no conditions, and is healthy as Karmada says', async () => {
  const plain = (updated: number, available: number) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web', namespace: 'shop', generation: 2 },
    spec: { updateStrategy: { type: 'RollingUpdate' } },
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: 3,
      updatedNumberScheduled: updated,
      numberAvailable: available,
    },
  });
  const verdicts = await judge([plain(3, 3), plain(2, 3), plain(3, 2), { ...plain(3, 3), status: {} }]);
  for (const { karmada, karmadaShipped } of verdicts) assert.equal(karmadaShipped, karmada);
  assert.equal((await aggregate('apps/v1', [plain(3, 3)])).conditions, undefined);
});

test('native and Advanced DaemonSets are judged by the same script', async () => {
  const shipped = (await customizations()) as {
    spec: { target: { kind: string }; customizations: { healthInterpretation: { luaScript: string } } };
  }[];
  const scripts = shipped
    .filter(({ spec }) => spec.target.kind === 'DaemonSet')
    .map(({ spec }) => spec.customizations.healthInterpretation.luaScript);
  assert.equal(scripts.length, apiVersions.length);
  assert.equal(new Set(scripts).size, 1);
});
