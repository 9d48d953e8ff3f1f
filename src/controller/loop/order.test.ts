import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, type Ledger } from '../../rollout/index.ts';
import type { RolloutPlanSpec } from '../../words/index.ts';
import { policyWithPlan } from '../testing/plans.ts';
import { createOrder, type OrderMember } from './order.ts';

const policyAfter = (...after: NonNullable<RolloutPlanSpec['after']>) => policyWithPlan({ after });

const clock = { now: () => 1_000_000 };

/** DaemonSets that run on the nodes a and b. */
const world = () => {
  const order = createOrder(clock);
  const changes: string[] = [];
  const add = (name: string, policy = policyWithPlan()) => {
    let complete = false;
    let current = true;
    let unknown = false;
    const ledger: Ledger = createLedger(policy, { onOrderChanged: (node) => order.nodeChanged(member, node) });
    const member: OrderMember = {
      apiGroup: 'apps',
      namespace: 'ns',
      name,
      ledger,
      setWaitsFor: (...call) => ledger.setWaitsFor(...call),
      isCurrent: () => current,
      isComplete: () => complete,
      isUnknown: () => unknown,
      changed: () => void changes.push(name),
    };
    const leave = order.join(member);
    order.planChanged(member);
    ledger.setTarget({ name: `${name}-b`, hash: 'b', number: 2 }, clock.now());
    for (const node of ['a', 'b']) {
      ledger.setNode(
        { name: node, ready: true, readyChangedAt: 1, eligible: true, selected: true, zone: '' },
        clock.now(),
      );
      order.nodesAdded(member, [node]);
    }
    ledger.finishInitialSync();
    return {
      ledger,
      leave,
      replan(...after: Parameters<typeof policyAfter>) {
        ledger.setPolicy(after.length > 0 ? policyAfter(...after) : policyWithPlan(), clock.now());
        order.planChanged(member);
      },
      complete(is: boolean) {
        complete = is;
        order.rolloutChanged(member);
      },
      current(is: boolean) {
        current = is;
        order.rolloutChanged(member);
      },
      unknown(is: boolean) {
        unknown = is;
        order.rolloutChanged(member);
      },
      run(node: string, revision: string) {
        ledger.setPod(
          {
            uid: `${name}-${node}-${revision}`,
            name: `${name}-${node}`,
            node,
            resourceVersion: '1',
            revision,
            ready: true,
            readyChangedAt: 1,
            createdAt: 1,
            terminating: false,
            preparingDelete: false,
            finished: false,
            unbound: false,
            hasInPlaceGate: false,
            trouble: undefined,
            detail: '',
            announced: undefined,
          } as unknown as Parameters<Ledger['setPod']>[0],
          clock.now(),
        );
      },
      waits: () => ['a', 'b'].map((node) => ledger.get(node)?.waitsFor),
    };
  };
  return { order, add, changes };
};

describe('the order of DaemonSets', () => {
  it('lets a node begin once its pod of the predecessor is at the target', () => {
    const { add, changes } = world();
    const driver = add('driver');
    const app = add('app', policyAfter({ name: 'driver' }));
    assert.deepEqual(app.waits(), ['driver', 'driver']);
    driver.run('a', 'b');
    assert.deepEqual(app.waits(), [undefined, 'driver']);
    assert.equal(changes.at(-1), 'app', 'it is decided on again');
    driver.run('b', 'a');
    assert.deepEqual(app.waits(), [undefined, 'driver']);
  });

  it('does not wait on nodes that the predecessor does not run on', () => {
    const { add } = world();
    const driver = add('driver');
    const app = add('app', policyAfter({ name: 'driver' }));
    driver.ledger.setNode({ name: 'a', ready: true, readyChangedAt: 1, eligible: false, selected: true, zone: '' }, 1);
    assert.deepEqual(app.waits(), [undefined, 'driver']);
  });

  it('waits for a whole rollout where the plan says so', () => {
    const { add } = world();
    const driver = add('driver');
    const app = add('app', policyAfter({ name: 'driver', scope: 'Rollout' }));
    driver.run('a', 'b');
    assert.match(app.waits()[0] ?? '', /^driver \(its whole rollout\)$/);
    driver.complete(true);
    assert.deepEqual(app.waits(), [undefined, undefined]);
  });

  it('does not take a node for updated while the revision of a new template is not known yet', () => {
    const { add } = world();
    const driver = add('driver');
    const node = add('app', policyAfter({ name: 'driver' }));
    const whole = add('web', policyAfter({ name: 'driver', scope: 'Rollout' }));
    for (const name of ['a', 'b']) driver.run(name, 'b');
    driver.complete(true);
    assert.deepEqual([node.waits(), whole.waits()].flat(), [undefined, undefined, undefined, undefined]);
    driver.current(false);
    assert.deepEqual(node.waits(), ['driver', 'driver']);
    assert.match(whole.waits()[0] ?? '', /^driver \(its whole rollout\)$/);
    driver.current(true);
    assert.deepEqual([node.waits(), whole.waits()].flat(), [undefined, undefined, undefined, undefined]);
  });

  it('waits for one about which something cannot be computed, also where that would not run', () => {
    const { add } = world();
    const driver = add('driver');
    const app = add('app', policyAfter({ name: 'driver' }));
    driver.run('a', 'b');
    driver.ledger.setNode({ name: 'b', ready: true, readyChangedAt: 1, eligible: false, selected: true, zone: '' }, 1);
    assert.deepEqual(app.waits(), [undefined, undefined]);
    driver.unknown(true);
    const unknown = 'driver (about which something cannot be computed)';
    assert.deepEqual(app.waits(), [unknown, unknown]);
    driver.unknown(false);
    assert.deepEqual(app.waits(), [undefined, undefined]);
  });

  it('holds for one that is not managed, until it is, and follows edits of the plan', () => {
    const { add } = world();
    const app = add('app', policyAfter({ name: 'driver' }));
    assert.match(app.waits()[0] ?? '', /^driver \(which does not exist, or is not managed\)$/);
    const driver = add('driver');
    driver.run('a', 'b');
    assert.deepEqual(app.waits(), [undefined, 'driver']);
    driver.leave();
    assert.match(app.waits()[0] ?? '', /not managed/);
    app.replan();
    assert.deepEqual(app.waits(), [undefined, undefined]);
  });
});

describe('a cycle of DaemonSets that wait for each other', () => {
  /** `a: b c` is a DaemonSet a whose plan names b and c; `ads/a` is an Advanced one. */
  const written = () => {
    const order = createOrder(clock);
    const told: string[] = [];
    const refOf = (text: string) => {
      const [, prefix, name = ''] = /^(ads\/)?(.*)$/.exec(text) ?? [];
      return { apiGroup: prefix === undefined ? ('apps' as const) : ('apps.kruise.io' as const), name };
    };
    const end = order.onChange(({ apiGroup, name }) => told.push(apiGroup === 'apps' ? name : `ads/${name}`));
    return {
      end,
      /** The cycle that it is told of at once, and who else is told of a change. */
      set: (line: string, namespace = 'ns'): [string, string] => {
        const [name = '', after = ''] = line.split(':');
        told.length = 0;
        const names = after.split(' ').filter((each) => each !== '');
        const cycle = order.setAfter(
          { namespace, ...refOf(name) },
          names.map((each) => ({ ...refOf(each), scope: 'Node' })),
        );
        return [cycle?.join(' ') ?? '', told.toSorted().join(' ')];
      },
    };
  };

  it('of two is told to both, and to nobody else; the end of it, too', () => {
    const { set } = written();
    assert.deepEqual(set('app: driver'), ['', '']);
    assert.deepEqual(set('web: app'), ['', '']);
    assert.deepEqual(set('driver: app'), ['driver app driver', 'app']);
    assert.deepEqual(set('app: driver'), ['app driver app', ''], 'as before');
    assert.deepEqual(set('web: driver app'), ['', ''], 'it waits for members, and is none');
    assert.deepEqual(set('driver:'), ['', 'app']);
    assert.deepEqual(set('app: driver'), ['', '']);
  });

  it('of one, and of three', () => {
    const { set } = written();
    assert.deepEqual(set('x: x'), ['x x', '']);
    assert.deepEqual(set('a: b'), ['', '']);
    assert.deepEqual(set('b: x c'), ['', '']);
    assert.deepEqual(set('c: a'), ['c a b c', 'a b']);
    assert.deepEqual(set('b: c'), ['b c a b', '']);
    assert.deepEqual(set('b: x'), ['', 'a c']);
  });

  it('continues as another one when an edit moves it', () => {
    const { set } = written();
    set('a: b');
    set('b: a');
    assert.deepEqual(set('c: a'), ['', '']);
    assert.deepEqual(set('b: c'), ['b c a b', 'a c']);
  });

  it('leads through both kinds, of which each has its own names', () => {
    const { set } = written();
    assert.deepEqual(set('app: ads/app'), ['', '']);
    assert.deepEqual(set('ads/app: driver'), ['', '']);
    assert.deepEqual(set('driver: app'), ['ds/driver ds/app ads/app ds/driver', 'ads/app app']);
  });

  it('of a thousand is found at once, and told by its beginning', () => {
    const { set } = written();
    for (let at = 0; at < 999; at += 1) set(`ds-${at}: ds-${at + 1}`);
    const startedAt = performance.now();
    const [cycle, others] = set('ds-999: ds-0');
    assert.equal(cycle, 'ds-999 ds-0 ... (1000 DaemonSets in all) ds-999');
    assert.equal(others.split(' ').length, 999);
    const [shorter, told] = set('ds-500: ds-499');
    assert.deepEqual([shorter, told.split(' ').length], ['ds-500 ds-499 ds-500', 999]);
    // A search of its own for each would take a minute.
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
  });

  it('stays within a namespace', () => {
    const { set } = written();
    set('a: b');
    assert.deepEqual(set('b: a', 'other'), ['', '']);
  });

  it('is of those that are managed, and ends with one that no longer is', () => {
    const { order, add } = world();
    const [a, b] = [add('a'), add('b')];
    const told: string[] = [];
    order.onChange(({ name }) => told.push(name));
    const after = (name: string) => [{ apiGroup: 'apps', name, scope: 'Node' }] as const;
    const ref = (name: string) => ({ apiGroup: 'apps', namespace: 'ns', name });
    order.setAfter(ref('a'), after('b'));
    assert.ok(order.setAfter(ref('b'), after('a')));
    a.leave();
    assert.deepEqual(told, ['a', 'b']);
    assert.equal(order.setAfter(ref('b'), after('a')), undefined);
    b.leave();
  });

  it('is no longer told of to a listener that has left', () => {
    const { set, end } = written();
    set('a: b');
    end();
    assert.deepEqual(set('b: a'), ['b a b', '']);
  });
});
