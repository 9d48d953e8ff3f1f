import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { NodeFacts } from '../facts/node.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { statusOf } from '../report/status.ts';
import { benchAt, daemonSetName, imagesOf, runs, seed, type Workbench } from '../testing/workbench.ts';

const asked = (bench: Workbench): string[] => bench.nodesOf('request-images');
const ask = (bench: Workbench, ...nodes: string[]): void => {
  for (const node of nodes) bench.change(node, imagesOf('b', 'requested', { at: bench.now() }));
};
const say = (bench: Workbench, state: 'present' | 'failed', ...nodes: string[]): void => {
  for (const node of nodes) bench.change(node, imagesOf('b', state, { at: bench.now() }));
};
const imagesState = (bench: Workbench, node = 'n0') => bench.ledger.get(node)?.status.images.state;
const parallel = (value: number): Partial<Policy> => ({ predownloadParallelism: count(value) });

describe('images are requested', () => {
  it('nowhere unless somebody wants it', () => {
    assert.deepEqual(asked(benchAt(3)), []);
    assert.deepEqual(asked(benchAt(3, { predownload: 'off', ...parallel(3) })), []);
    assert.deepEqual(asked(benchAt(3, { strategy: 'ota', ...parallel(3) })), []);
  });

  it('on as many nodes at a time as the annotation says, whether they wait for them or not', () => {
    for (const predownload of ['required', 'preferred', undefined] as const) {
      const bench = benchAt(6, { predownload, ...parallel(2), maxUnavailable: count(1) });
      bench.deletePod('n0');
      assert.deepEqual(asked(bench), ['n1', 'n2']);
      ask(bench, 'n1');
      assert.deepEqual(asked(bench), ['n2']);
      ask(bench, 'n2');
      assert.deepEqual(asked(bench), []);
      say(bench, 'present', 'n1');
      assert.deepEqual(asked(bench), ['n3']);
    }
    assert.deepEqual(asked(benchAt(5, { predownloadParallelism: percent(21) })).length, 2);
    assert.deepEqual(asked(benchAt(15, { predownload: 'required' })).length, 10);
  });

  it('again only once the response can have been observed', () => {
    const bench = benchAt(1, { predownload: 'required' });
    bench.ledger.noteImageRequest('n0', 'b', bench.now());
    assert.deepEqual([imagesState(bench), asked(bench)], ['requested', []]);
    bench.advance(30_000);
    assert.deepEqual(asked(bench), ['n0']);
    bench.ledger.noteImageRequest('n0', 'b', bench.now());
    bench.ledger.noteImageRequest('n0', undefined, bench.now());
    assert.deepEqual(asked(bench), ['n0']);
  });

  it('even if the update is paused or left to the user, but not if the revision is halted or the budget is zero', () => {
    assert.deepEqual(asked(benchAt(1, { ...parallel(1), paused: true })), ['n0']);
    assert.deepEqual(asked(benchAt(1, { ...parallel(1), strategy: 'manual' })), ['n0']);
    assert.deepEqual(asked(benchAt(1, { ...parallel(1), maxUnavailable: count(0) })), []);
    const bench = benchAt(3, { ...parallel(1), failureThreshold: count(1), maxUnavailable: count(1) });
    bench.deletePod('n0');
    bench.start('n0', 'b', { ready: false, trouble: 'crash-loop' });
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    assert.deepEqual(asked(bench), []);
  });

  it('only on online nodes with an outdated pod that match the selector', () => {
    const bench = benchAt(4, parallel(4));
    bench.removePod('n0');
    bench.offline('n1');
    bench.node('n2', { selected: false });
    assert.deepEqual(asked(bench), ['n3']);
  });

  it('not if all nodes are updated at once anyway, unless they wait for them', () => {
    assert.deepEqual(asked(benchAt(2, { ...parallel(1), maxUnavailable: count(2) })), []);
    const held = benchAt(2, { ...parallel(1), maxUnavailable: count(2), partition: count(1) });
    assert.deepEqual(asked(held), ['n0']);
    assert.deepEqual(asked(benchAt(2, { ...parallel(1), predownload: 'preferred', maxUnavailable: count(2) })), ['n0']);
  });

  it('not on nodes that are updated now', () => {
    const bench = benchAt(4, { ...parallel(2), maxUnavailable: count(1) });
    const [updated = '', ...others] = bench.nodesOf('reserve');
    assert.deepEqual(others, []);
    assert.deepEqual(asked(bench), ['n0', 'n1', 'n2', 'n3'].filter((node) => node !== updated).slice(0, 2));
  });

  it('first on nodes that may be updated, then on those that a partition keeps', () => {
    const bench = benchAt(4, { ...parallel(3), partition: count(2), maxUnavailable: count(1) });
    bench.deletePod('n3');
    assert.deepEqual(asked(bench), ['n2', 'n0', 'n1']);
  });

  it('on the others once enough nodes are updated', () => {
    const bench = benchAt(4, { ...parallel(4), predownloadMinUpdated: count(1), maxUnavailable: count(1) });
    assert.deepEqual(asked(bench), []);
    bench.update('b', 'n0');
    assert.deepEqual(asked(bench), ['n2', 'n3'], 'except for the one that is updated now');
    const share = benchAt(4, { ...parallel(4), predownloadMinUpdated: percent(26) });
    share.update('b', 'n0');
    assert.deepEqual(asked(share), []);
  });

  it('on no more than those first nodes if they wait for them, and on another if one cannot pull', () => {
    const bench = benchAt(4, { predownload: 'required', predownloadMinUpdated: count(1) });
    assert.deepEqual(asked(bench), ['n0']);
    ask(bench, 'n0');
    assert.deepEqual(asked(bench), []);
    say(bench, 'failed', 'n0');
    assert.deepEqual(asked(bench), ['n1']);
    say(bench, 'present', 'n1');
    assert.deepEqual([asked(bench), bench.nodesOf('reserve')], [[], ['n1']]);
    bench.update('b', 'n1');
    assert.deepEqual(asked(bench), ['n2', 'n3']);
  });
});

describe('a stale request', () => {
  const unasked = (bench: Workbench): string[] => bench.nodesOf('cancel-images');
  it('is withdrawn: another revision, a pod that runs it by now, the annotation gone, the revision halted', () => {
    const bench = benchAt(3, { predownload: 'required' });
    bench.change('n0', imagesOf('a', 'requested'));
    assert.deepEqual(unasked(bench), ['n0']);
    ask(bench, 'n0', 'n1');
    assert.deepEqual(unasked(bench), []);
    bench.change('n1', { revision: 'b' });
    assert.deepEqual(unasked(bench), ['n1']);
    bench.policy({ predownload: 'off' });
    assert.deepEqual(unasked(bench), ['n0', 'n1']);
    bench.policy({ predownload: 'required' });
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: [] } }, bench.now());
    assert.deepEqual(unasked(bench), ['n0', 'n1']);
  });
  it('stays if it has been answered, or if owners requested it', () => {
    const bench = benchAt(1);
    bench.change('n0', imagesOf('a', 'present'));
    assert.deepEqual(unasked(bench), []);
    bench.change('n0', imagesOf('b', 'requested'));
    bench.policy({ strategy: 'ota' });
    assert.deepEqual(unasked(bench), []);
  });
});

describe('an update waits for images', () => {
  const reserved = (bench: Workbench): string[] => bench.nodesOf('reserve');
  const one = { maxUnavailable: count(1), predownloadTimeoutMs: 60_000 };

  it('forever if they are required', () => {
    const bench = benchAt(1, { ...one, predownload: 'required' });
    say(bench, 'failed', 'n0');
    bench.advance(24 * 3_600_000);
    assert.deepEqual([bench.phase('n0'), reserved(bench)], ['held/image', []]);
  });

  it('for the time of one pull if they are preferred, counted from when the target was set or the node returned', () => {
    const bench = benchAt(2, { ...one, predownload: 'preferred' });
    bench.offline('n1');
    bench.advance(59_999);
    assert.deepEqual([bench.phase('n0'), reserved(bench)], ['held/image', []]);
    bench.online('n1');
    bench.advance(1);
    assert.deepEqual(reserved(bench), ['n0']);
    bench.advance(59_998);
    assert.equal(bench.phase('n1'), 'held/image');
    bench.advance(1);
    assert.equal(bench.phase('n1'), 'outdated/available');
  });

  it('for that time once more by a clock that is ahead of the one that set the target', () => {
    const bench = benchAt(2, { ...one, predownload: 'preferred' });
    const { state } = bench.ledger;
    const earlier = { ...state, rollout: state.rollout + 1, startedAt: bench.now() - 300_000 };
    bench.ledger.restore(earlier, new Map(), new Set(), bench.now());
    bench.advance(59_999);
    assert.deepEqual([bench.phase('n0'), reserved(bench)], ['held/image', []]);
    bench.advance(1);
    assert.equal(reserved(bench).length, 1);
  });

  it('only until they are present, without a slot of the budget', () => {
    const bench = benchAt(2, { ...one, predownload: 'preferred' });
    ask(bench, 'n0', 'n1');
    say(bench, 'present', 'n1');
    assert.deepEqual([reserved(bench), bench.decide().summary.usage.occupied], [['n1'], 0]);
  });

  it('for broken pods and in-place updates alike', () => {
    const bench = benchAt(2, { ...one, predownload: 'required', inPlace: true });
    bench.target('c', 'a');
    bench.change('n0', { ready: false, hasInPlaceGate: true });
    bench.change('n1', { hasInPlaceGate: true });
    assert.deepEqual(reserved(bench), []);
    bench.change('n0', imagesOf('c', 'present'));
    assert.deepEqual(reserved(bench), ['n0']);
  });

  it('counts from the request if the target was not seen to be set', () => {
    const bench = benchAt(1, { ...one, predownload: 'preferred' });
    bench.ledger.restore({ ...bench.ledger.state, startedAt: undefined }, new Map(), new Set(), bench.now());
    bench.advance(3_600_000);
    assert.deepEqual([asked(bench), reserved(bench)], [['n0'], []]);
    ask(bench, 'n0');
    bench.advance(60_000);
    assert.deepEqual(reserved(bench), ['n0']);
  });

  it('releases a reservation that was not carried out if images become required', () => {
    const bench = benchAt(1, one);
    bench.reserve('n0');
    bench.policy({ predownload: 'required' });
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
  });

  it('with the strategy ota if owners requested them and the manager acts on approvals', () => {
    const bench = benchAt(1, { ...one, strategy: 'ota', byApproval: true });
    ask(bench, 'n0');
    assert.equal(bench.phase('n0'), 'held/image');
    bench.policy({ byApproval: false });
    assert.equal(bench.phase('n0'), 'outdated/available');
  });
});

describe('any history of images', () => {
  const names = ['n0', 'n1', 'n2', 'n3', 'n4'];
  const node = fc.constantFrom(...names);
  const steps: fc.Arbitrary<(bench: Workbench) => void>[] = [
    fc
      .tuple(node, fc.constantFrom('a', 'b', 'c'), fc.constantFrom('requested', 'present', 'failed'))
      .map(([name, hash, state]) => (bench) => {
        if (bench.ledger.get(name)?.pods.length === 1) bench.change(name, imagesOf(hash, state, { at: bench.now() }));
      }),
    node.map((name) => (bench) => {
      if (bench.ledger.get(name)?.pods.length === 1) bench.change(name, { ready: false, readyChangedAt: bench.now() });
    }),
    fc.constantFrom('b', 'c').map((hash) => (bench) => bench.target(hash, 'a', 'b', 'c')),
    fc.constantFrom(100, 40_000, 400_000).map((ms) => (bench) => bench.advance(ms)),
    node.map((name) => (bench) => bench.ledger.noteImageRequest(name, bench.ledger.state.target?.hash, bench.now())),
    fc.constant((bench) => {
      for (const name of bench.nodesOf('reserve')) bench.reserve(name);
    }),
  ];
  const mayDo: ReadonlySet<string> = new Set(['reserve', 'delete', 'update-in-place', 'surge']);

  it('never updates a pod whose required images are missing, and never lets too many nodes pull', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(...steps), { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 2 }),
        (history, inPlace, surge) => {
          const limits = { maxUnavailable: count(surge > 0 ? 0 : 3), maxSurge: count(surge) };
          const bench = benchAt(5, {
            predownload: 'required',
            inPlace: inPlace && surge === 0,
            ...limits,
            ...parallel(2),
          });
          for (const step of history) {
            step(bench);
            const { actions } = bench.decide();
            for (const action of actions) {
              if (!('node' in action) || !mayDo.has(action.type)) continue;
              const images = bench.last(action.node)?.images;
              assert.deepEqual([images?.revision, images?.state], [bench.ledger.state.target?.hash, 'present']);
            }
            const under = names.filter((name) => imagesState(bench, name) === 'requested').length;
            const more = actions.filter(({ type }) => type === 'request-images').length;
            assert.ok(more === 0 || under + more <= 2);
          }
        },
      ),
      { numRuns: runs, seed },
    );
  });
});

describe('the status of images', () => {
  const statusIn = (bench: Workbench) => {
    const decision = bench.decide();
    const input = {
      ledger: bench.ledger,
      decision,
      generation: 1,
      daemonSetGeneration: 1,
      policyHash: '',
      daemonSet: daemonSetName,
      previous: undefined,
    };
    return statusOf({ ...input, now: bench.now() }).images;
  };
  it('counts nodes by progress, and names those that failed with the reason', () => {
    const bench = benchAt(5, { predownload: 'required' });
    ask(bench, 'n0', 'n1');
    say(bench, 'present', 'n2');
    say(bench, 'failed', 'n3');
    const failing = [{ node: 'n3', message: 'no such image' }];
    assert.deepEqual(statusIn(bench), { pulled: 1, pulling: 2, waiting: 1, failed: 1, failing });
  });
  it('is absent if nothing is pulled, and once all nodes are updated', () => {
    assert.equal(statusIn(benchAt(1)), undefined);
    const bench = benchAt(1, { predownload: 'required' });
    bench.update('b', 'n0');
    assert.equal(statusIn(bench), undefined);
  });
});

describe('images that the kubelet deletes before the update', () => {
  const pulled = (predownload: Policy['predownload'], listed: NodeFacts['images'] | undefined): Workbench => {
    const bench = benchAt(1, { predownload, ...parallel(1), paused: predownload === undefined });
    if (listed) bench.node('n0', { images: 'not-all' });
    ask(bench, 'n0');
    say(bench, 'present', 'n0');
    // A list that lags behind the pull proves nothing.
    assert.deepEqual([imagesState(bench), asked(bench)], ['present', []]);
    if (listed) bench.node('n0', { images: listed });
    return bench;
  };

  it('are requested again, and the update waits for them where they are required', () => {
    for (const predownload of ['required', 'preferred', undefined] as const) {
      const bench = pulled(predownload, 'all');
      assert.deepEqual([imagesState(bench), asked(bench)], ['present', []]);
      const required = predownload !== undefined;
      if (required) bench.policy({ predownload, paused: true });
      bench.node('n0', { images: 'not-all' });
      assert.deepEqual([imagesState(bench), asked(bench)], ['wanted', ['n0']]);
      assert.equal(bench.ledger.get('n0')?.status.images.required, required);
      bench.advance(1_000);
      bench.ledger.noteImageRequest('n0', 'b', bench.now());
      ask(bench, 'n0');
      assert.deepEqual([imagesState(bench), asked(bench)], ['requested', []]);
      bench.advance(1_000);
      say(bench, 'present', 'n0');
      assert.deepEqual([imagesState(bench), asked(bench)], ['present', []], 'the list is from before the pull');
    }
  });

  it('are believed to be there if the node has not listed them since, or no longer proves anything', () => {
    const bench = pulled('required', 'not-all');
    assert.deepEqual([imagesState(bench), asked(bench)], ['present', []]);
    const unknown = pulled('required', 'all');
    const { images: _none, ...facts } = unknown.ledger.get('n0')?.node ?? {};
    unknown.ledger.setNode(facts as NodeFacts, unknown.now());
    assert.equal(imagesState(unknown), 'present');
  });

  it('of another revision are of no interest', () => {
    const bench = pulled('required', 'all');
    bench.target('c');
    bench.node('n0', { images: 'not-all' });
    assert.deepEqual([imagesState(bench), asked(bench)], ['wanted', ['n0']]);
    bench.change('n0', imagesOf('c', 'present', { at: bench.now() }));
    assert.deepEqual([imagesState(bench), asked(bench)], ['present', []]);
  });
});
