import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, type Ledger, type RolloutPlanSpec } from '../rollout/index.ts';
import { createOrder, type OrderMember } from './order.ts';
import { policyWithPlan } from './testing/plans.ts';

const policyAfter = (...after: NonNullable<RolloutPlanSpec['after']>) => policyWithPlan({ after });

const clock = { now: () => 1_000_000 };

/** DaemonSets that run on the nodes a and b. */
const world = () => {
  const order = createOrder(clock);
  const changes: string[] = [];
  const add = (name: string, policy = policyWithPlan()) => {
    let complete = false;
    let current = true;
    const ledger: Ledger = createLedger(policy, { onOrderChanged: (node) => order.nodeChanged(member, node) });
    const member: OrderMember = {
      apiGroup: 'apps',
      namespace: 'ns',
      name,
      ledger,
      isCurrent: () => current,
      isComplete: () => complete,
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

  it('finds a circle of any length, and names it', () => {
    const { add, order } = world();
    add('a', policyAfter({ name: 'b' }));
    add('b', policyAfter({ name: 'c' }));
    const after = [{ apiGroup: 'apps', name: 'a', scope: 'Node' }] as const;
    assert.deepEqual(order.circleOf('apps', 'ns', 'c', after), ['c', 'a', 'b', 'c']);
    assert.equal(order.circleOf('apps', 'ns', 'd', after), undefined);
    assert.equal(order.circleOf('apps', 'other', 'c', after), undefined, 'another namespace');
    assert.deepEqual(order.circleOf('apps', 'ns', 'x', [{ ...after[0], name: 'x' }]), ['x', 'x']);
  });
});
