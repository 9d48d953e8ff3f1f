import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { generatePlan } from './plan/generate-plan.ts';
import { faultKinds, type Plan, type Strategy } from './plan/plan.ts';
import { runPlan } from './run-plan.ts';

/** The first small plan from a seed that fits. */
const planOf = (fits: (plan: Plan) => boolean): Plan => {
  for (let seed = 1; seed < 5_000; seed += 1) {
    const plan = generatePlan(seed, faultKinds);
    if (plan.nodes <= 4 && plan.steps.length > 6 && fits(plan)) return plan;
  }
  throw new Error('no seed gives such a plan');
};

const isAuto = ({ model }: Plan): boolean => model !== 'ota';
const native = planOf((plan) => isAuto(plan) && plan.kind === 'native');
const advanced = (strategy: Strategy): Plan =>
  planOf((plan) => isAuto(plan) && plan.kind === 'advanced' && plan.strategy === strategy);

const plans: readonly { name: string; plan: Plan }[] = [
  { name: 'a native DaemonSet', plan: native },
  { name: 'an Advanced one that recreates', plan: advanced('recreate') },
  { name: 'in place', plan: advanced('in-place') },
  { name: 'surging', plan: advanced('surge') },
  { name: 'owners and their agents', plan: planOf((plan) => !isAuto(plan)) },
  {
    name: 'a hook before pods are deleted',
    plan: { ...advanced('recreate'), hook: { by: 'label', markPodNotReady: true, drainMs: 2_000 } },
  },
  { name: 'images that are pulled ahead', plan: { ...advanced('in-place'), predownload: 'required' } },
  {
    name: 'two at once',
    plan: {
      ...native,
      others: [{ kind: 'advanced', strategy: 'surge', limit: '1', settleSeconds: 0, minReadySeconds: 0 }],
    },
  },
];

const digests = `
  import { readFileSync } from 'node:fs';
  const { runPlan } = await import(process.argv[1]);
  const told = [];
  for (const plan of JSON.parse(readFileSync(process.argv[2], 'utf8'))) told.push((await runPlan(plan, true)).digest);
  process.stdout.write(JSON.stringify(told));
  process.exit(0);
`;

it('a seed gives the same plan each time, and another seed another one', () => {
  assert.deepEqual(generatePlan(7, faultKinds), generatePlan(7, faultKinds));
  assert.notDeepEqual({ ...generatePlan(8, faultKinds), seed: 7 }, generatePlan(7, faultKinds));
});

describe('the same plan', () => {
  let elsewhere: readonly string[] = [];

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeset-history-'));
    after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'plans.json');
    writeFileSync(file, JSON.stringify(plans.map(({ plan }) => plan)));
    const args = ['--input-type=module', '--eval', digests, join(import.meta.dirname, 'run-plan.ts'), file];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    elsewhere = JSON.parse(stdout) as string[];
  });

  for (const [index, { name, plan }] of plans.entries())
    it(`has the same history in another process, byte by byte: ${name}`, async () => {
      const { digest, lines, violations } = await runPlan(plan, true);
      assert.deepEqual(violations, [], `seed ${plan.seed}`);
      assert.ok(lines.length > 100, `${lines.length} lines`);
      assert.equal(elsewhere[index], digest, `seed ${plan.seed}`);
    });
});
