import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle, type TestClock } from '../../test/support/index.ts';
import type { KubeClient, KubeObject } from '../kube/index.ts';
import { silentLogger } from '../runtime/index.ts';
import type { AnalysisCheck } from '../words/index.ts';
import type { AnalysisRun } from './argo-rollouts.ts';
import { createCheckRunner } from './runner.ts';
import { createStubClient, type StubClient, subject } from './testing/index.ts';
import type { CheckResult } from './types.ts';

const template = (name: string, spec: object, plural = 'analysistemplates'): [string, KubeObject] => [
  plural,
  {
    metadata: { name, ...(plural === 'analysistemplates' && { namespace: 'shop' }) },
    spec,
  } as KubeObject,
];
const metric = (name: string, more: object = {}): object => ({ name, provider: { web: { url: 'http://x' } }, ...more });

interface Run {
  client: StubClient;
  clock: TestClock;
  results: CheckResult[];
  runs(): AnalysisRun[];
  /** Sets the status of the last run. */
  report(phase: string, message?: string): void;
  stop(): Promise<void>;
}

const start = (
  client: StubClient,
  { check, from = 1000, failures = 0 }: { check?: AnalysisCheck; from?: number; failures?: number } = {},
): Run => {
  const clock = createTestClock();
  const stopping = new AbortController();
  const results: CheckResult[] = [];
  const runner = createCheckRunner({ client: client as unknown as KubeClient, clock, log: silentLogger });
  const analysis = { ...(check?.clusterTemplateName === undefined && { templateName: 'errors' }), ...check };
  const changed = (result: CheckResult): void => void results.push(result);
  const ended = runner.run({ name: 'errors', analysis }, subject(), from, failures, changed, stopping.signal);
  const runs = (): AnalysisRun[] =>
    [...client.objects].flatMap(([key, object]) => (key.startsWith('analysisruns/') ? [object as AnalysisRun] : []));
  return {
    client,
    clock,
    results,
    runs,
    report: (phase, message) => {
      const run = runs().at(-1);
      if (run) run.status = { phase, ...(message !== undefined && { message }) };
    },
    stop: async () => {
      stopping.abort();
      await ended;
      assert.equal(clock.pending, 0);
    },
  };
};

const last = ({ results }: Run): string => `${results.at(-1)?.state} ${results.at(-1)?.failures}`;
const message = ({ results }: Run): string => results.at(-1)?.message ?? '';

describe('an analysis', () => {
  it('creates a run from its template, once, and passes with it', async () => {
    const dryRun = [{ metricName: 'b' }];
    const args = [{ name: 'ds' }, { name: 'limit', value: '5' }, { name: 'key', valueFrom: { secretKeyRef: {} } }];
    const client = createStubClient(template('errors', { metrics: [metric('a'), metric('b')], args, dryRun }));
    const run = start(client, { check: { args: [{ name: 'ds', value: '${namespace}/${daemonSet}:${revision}' }] } });
    await settle();
    const [created] = run.runs();
    assert.match(created?.metadata?.name ?? '', /^web-errors-[0-9a-f]{10}$/);
    assert.deepEqual(created?.metadata?.ownerReferences, [subject().owner]);
    assert.deepEqual(created?.spec, {
      metrics: [metric('a'), metric('b')],
      args: [{ name: 'ds', value: 'shop/web:7d9' }, args[1], args[2]],
      dryRun,
    });
    assert.equal(last(run), 'Pending 0');
    assert.match(message(run), /waits for the controller of Argo Rollouts/);
    run.report('Running');
    await run.clock.advance(4000);
    assert.equal(last(run), 'Pending 0');
    run.report('Successful');
    await run.clock.advance(2000);
    assert.equal(last(run), 'Passing 0');
    const { length } = run.client.calls;
    await run.clock.advance(60_000);
    assert.deepEqual([run.client.calls.length, run.results.length], [length, 3]);
    await run.stop();
  });

  it('fails for good, in the words of Argo Rollouts', async () => {
    const run = start(createStubClient(template('errors', { metrics: [metric('a')] })));
    await settle();
    run.report('Failed', 'Metric "a" assessed Failed');
    await run.clock.advance(2000);
    assert.equal(last(run), 'Failed 1');
    assert.match(message(run), /^AnalysisRun shop\/web-errors-\w+ is Failed: Metric "a" assessed Failed$/);
    assert.equal(run.runs().length, 1);
    await run.stop();
  });

  it('is found by the next leader, and begins again with another soak or after a resume', async () => {
    const client = createStubClient(template('errors', { metrics: [metric('a')] }));
    const first = start(client);
    await settle();
    first.report('Running');
    await first.stop();
    const next = start(client);
    await settle();
    assert.equal(next.runs().length, 1);
    next.report('Failed');
    await next.clock.advance(2000);
    await next.stop();
    const knows = start(client, { failures: 1 });
    await settle();
    assert.deepEqual([last(knows), knows.runs().length], ['Failed 1', 1]);
    await knows.stop();
    const resumed = start(client);
    await settle();
    assert.deepEqual([last(resumed), resumed.runs().length], ['Pending 0', 2]);
    assert.match(resumed.runs()[1]?.metadata?.name ?? '', /-2$/);
    await resumed.stop();
    const soak = start(client, { from: 2000 });
    await settle();
    assert.equal(soak.runs().length, 3);
    await soak.stop();
  });

  it('has no result while its run has none, until the run is deleted', async () => {
    for (const phase of ['Error', 'Inconclusive']) {
      const run = start(createStubClient(template('errors', { metrics: [metric('a')] })));
      await settle();
      run.report(phase, 'no such host');
      await run.clock.advance(60_000);
      assert.equal(last(run), 'NoResult 0');
      assert.match(message(run), new RegExp(`is ${phase}: no such host; delete it to run it again`));
      for (const key of run.client.objects.keys()) if (key.startsWith('analysisruns/')) run.client.objects.delete(key);
      await run.clock.advance(2000);
      run.report('Successful');
      await run.clock.advance(2000);
      assert.equal(last(run), 'Passing 0');
      await run.stop();
    }
  });

  it('takes templates with those that they refer to', async () => {
    const run = start(
      createStubClient(
        template(
          'errors',
          {
            metrics: [metric('a')],
            args: [{ name: 'x' }],
            templates: [{ templateName: 'more' }, { templateName: 'errors', clusterScope: true }],
          },
          'clusteranalysistemplates',
        ),
        template('more', { args: [{ name: 'x', value: '1' }], measurementRetention: [{ metricName: 'b', limit: 1 }] }),
      ),
      { check: { clusterTemplateName: 'errors' } },
    );
    await settle();
    assert.deepEqual(run.runs()[0]?.spec, {
      metrics: [metric('a')],
      args: [{ name: 'x', value: '1' }],
      measurementRetention: [{ metricName: 'b', limit: 1 }],
    });
    await run.stop();
  });
});

describe('an analysis has no result, and says why,', () => {
  const given = { args: [{ name: 'x', value: '1' }] };
  const cases: [name: string, [string, KubeObject][], AnalysisCheck, RegExp][] = [
    ['without its template', [], {}, /^AnalysisTemplate shop\/errors does not exist: create it$/],
    ['without metrics', [template('errors', {})], {}, /has no metrics: add one/],
    [
      'with a metric that never ends',
      [template('errors', { metrics: [metric('a', { interval: '1m' })] })],
      {},
      /metric "a" has an interval but no count.*set count/,
    ],
    [
      'with an argument that has no value',
      [template('errors', { metrics: [metric('a')], args: [{ name: 'x' }] })],
      {},
      /needs the argument "x": set it in analysis.args/,
    ],
    [
      'with an argument that the template does not have',
      [template('errors', { metrics: [metric('a')] })],
      given,
      /has no argument "x": remove it/,
    ],
    [
      'with two templates that differ',
      [
        template('errors', {
          metrics: [metric('a')],
          args: [{ name: 'x', value: '1' }],
          templates: [{ templateName: 'b' }],
        }),
        template('b', { args: [{ name: 'x', value: '2' }] }),
      ],
      {},
      /the argument "x" two values, "1" and "2"/,
    ],
    [
      'with a metric twice',
      [
        template('errors', { metrics: [metric('a')], templates: [{ templateName: 'b' }] }),
        template('b', { metrics: [metric('a')] }),
      ],
      {},
      /two metrics named "a"/,
    ],
  ];
  for (const [name, objects, check, expected] of cases)
    it(name, async () => {
      const run = start(createStubClient(...objects), { check });
      await run.clock.advance(30_000);
      assert.deepEqual([last(run), run.results.length, run.runs().length], ['NoResult 0', 1, 0]);
      assert.match(message(run), expected);
      await run.stop();
    });

  it('without Argo Rollouts, and runs once it is installed', async () => {
    const client = createStubClient(template('errors', { metrics: [metric('a')] }));
    for (const plural of ['analysisruns', 'analysistemplates']) client.absent.add(plural);
    const run = start(client);
    await settle();
    assert.match(message(run), /^Argo Rollouts is not installed: install/);
    client.absent.clear();
    await run.clock.advance(10_000);
    assert.equal(last(run), 'Pending 0');
    await run.stop();
  });

  it('without the rights', async () => {
    const client = createStubClient(template('errors', { metrics: [metric('a')] }));
    client.forbidden.add('analysistemplates');
    const run = start(client);
    await settle();
    assert.match(message(run), /^AnalysisTemplate shop\/errors: cannot get analysistemplates$/);
    client.forbidden.clear();
    client.forbidden.add('analysisruns');
    await run.clock.advance(10_000);
    assert.match(message(run), /cannot get analysisruns/);
    await run.stop();
  });

  it('for a run of its name that belongs to somebody else', async () => {
    const client = createStubClient(template('errors', { metrics: [metric('a')] }));
    const run = start(client);
    await settle();
    const [other] = run.runs();
    if (other?.metadata) other.metadata.ownerReferences = [{ ...subject().owner, uid: 'other' }];
    run.report('Successful');
    await run.clock.advance(2000);
    assert.equal(last(run), 'NoResult 0');
    assert.match(message(run), /belongs to somebody else: delete it/);
    await run.stop();
  });
});
