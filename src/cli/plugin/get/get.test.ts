import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../../../test/support/index.ts';
import { stage } from '../../../view/testing/index.ts';
import { withoutColors } from '../../color.ts';
import { terminal } from '../../testing/terminal.ts';
import { createFakeCluster, EVENTS, NODES, observed, PODS, SETS } from '../testing/fake-cluster.ts';
import { createFollow } from '../testing/follow.ts';

describe('get', () => {
  const world = createFakeCluster();
  const fleet = (): void => {
    world.daemonSet();
    world.fleet('n1', 'n2', 'n3');
    world.pod('n1', 'new');
    world.node('n3', false);
    world.rollout(observed);
  };

  it('lists the nodes with phase, cause and revision', async () => {
    fleet();
    assert.equal(
      await world.output('get', 'ds/web'),
      [
        'NODE   PHASE      CAUSE              REVISION   IMAGES',
        'n1     updated    current            new',
        'n2     outdated   available          old',
        'n3     offline    offline-outdated   old',
        '',
      ].join('\n'),
    );
    assert.match(await world.output('get', 'web', '-o', 'wide'), /^NODE .*POD +AGE\nn1 .*web-n1 +\d+d$/m);
    assert.equal(await world.output('get', 'web', '-o', 'name'), 'node/n1\nnode/n2\nnode/n3\n');
    assert.equal(await world.output('get', 'web', '--phase', 'offline,updated', '-o', 'name'), 'node/n1\nnode/n3\n');
    assert.equal((await world.run(['get', 'web', '--phase', 'failed', '-w'])).code, 2);
    assert.deepEqual(await world.run(['get', 'web', '--phase', 'failed,broken']), {
      code: 0,
      stdout: '',
      stderr: 'No node is failed or broken.\n',
    });
    assert.equal(await world.output('get', 'web', '--phase', 'failed', '-o', 'name'), '');
  });

  it('counts the numbers in names', async () => {
    world.daemonSet();
    world.fleet('n10', 'n9', 'n100');
    world.rollout(observed);
    assert.equal(await world.output('get', 'web', '-o', 'name'), 'node/n9\nnode/n10\nnode/n100\n');
    assert.match(await world.output('explain', 'web'), /^outdated \(available\): n9, n10, n100$/m);
  });

  it('prints data for scripts', async () => {
    fleet();
    const data = JSON.parse(await world.output('get', 'web', '-o', 'json')) as Record<string, unknown>;
    assert.deepEqual(
      [data.kind, data.name, data.complete, data.budget],
      ['DaemonSet', 'web', false, { nodes: 1, inUse: 0 }],
    );
    assert.deepEqual((data.nodes as unknown[])[2], {
      node: 'n3',
      phase: 'offline',
      cause: 'offline-outdated',
      pod: 'web-n3',
      revision: 'old',
      images: [],
      createdAt: '2020-01-01T00:00:00.000Z',
    });
    assert.deepEqual(parse(await world.output('get', 'web', '-o', 'yaml')), data);
  });

  it('says why there is nothing to list', async () => {
    const missing = await world.run(['get', 'web']);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /there is no DaemonSet shop\/web/);
    world.daemonSet({}, { annotations: {} });
    assert.match((await world.run(['get', 'web', '-w'])).stderr, /update-strategy/);
  });
});

describe('get -w', () => {
  const world = createFakeCluster();
  const follow = createFollow(world.run, 'get', '-w');
  const environment = (more: Record<string, string> = {}) => ({
    KUBECONFIG: world.kubeconfig,
    LANG: 'C.UTF-8',
    ...more,
  });
  const fleet = (...names: string[]): void => {
    world.daemonSet();
    world.fleet(...names);
    world.rollout(observed);
  };
  /** A terminal that the command draws on. */
  const onTerminal = (columns = 100, rows = 40) => {
    const tty = terminal(columns, rows);
    let raw = '';
    const stdout = (text: string): void => {
      raw += text;
      tty.write(text);
    };
    return {
      tty,
      raw: () => raw,
      shows: (text: RegExp) => () => text.test(tty.lines().join('\n')),
      io: { stdout, screen: () => tty.size, environment: environment() },
    };
  };

  it('prints the nodes and then those that change, where there is no terminal', async () => {
    fleet('n1', 'n2');
    const { code, stdout, stderr } = await follow(['web'], {}, async (output) => {
      await eventually('the nodes', () => output.stdout.includes('n2'));
      world.pod('n1', 'new');
      await eventually('the change', () => /n1 +updated/.test(output.stdout));
      world.api.remove(NODES, 'n2');
      world.api.remove(PODS, 'web-n2');
      await eventually('the end of n2', () => output.stderr.includes('n2'));
    });
    assert.deepEqual([code, stderr], [0, 'n2 is no longer part of the rollout.\n']);
    assert.deepEqual(
      stdout.split('\n').map((line) => line.split(/ +/).slice(0, 2).join(' ')),
      ['NODE PHASE', 'n1 outdated', 'n2 outdated', 'n1 updated', ''],
    );
  });

  for (const variable of ['NO_COLOR', 'CI'])
    it(`prints lines on a terminal with ${variable}`, async () => {
      fleet('n1');
      const { io } = onTerminal();
      let text = '';
      const stdout = (more: string): void => void (text += more);
      await follow(['web'], { ...io, stdout, environment: environment({ [variable]: '1' }) }, () =>
        eventually('the node', () => text.includes('n1')),
      );
      assert.ok(!withoutColors(text).includes('\u001B'));
    });

  it('draws a cell a node on a terminal, follows the rollout, and restores the terminal', async () => {
    fleet(...Array.from({ length: 12 }, (_, index) => `n${index}`));
    const { tty, raw, shows, io } = onTerminal();
    const { code } = await follow(['ds/web'], io, async () => {
      await eventually('the picture', shows(/shop ds\/web +web-new/));
      assert.equal(tty.isRestored(), false);
      assert.match(tty.lines().join('\n'), /Rolling out[^]*· +outdated +12[^]*updated +░+ +0 of 12 online nodes/);
      world.pod('n3', 'new');
      world.node('n4', false);
      await eventually('the change', shows(/✓ +updated +1[^]*– +offline +1[^]*1 of 11 online nodes/));
      const involvedObject = { kind: 'DaemonSet', apiVersion: 'apps/v1', name: 'web', uid: 'uid-web' };
      world.api.put(EVENTS, {
        metadata: { name: 'e1', namespace: 'shop' },
        involvedObject,
        reason: 'RolloutStarted',
        message: 'Rolling out\u001B[2Jnow',
        type: 'Normal',
      });
      await eventually('the Event', shows(/RolloutStarted +Rolling out\\u001b\[2Jnow/));
    });
    assert.equal(code, 0);
    assert.equal(tty.isRestored(), true);
    assert.match(tty.lines().join('\n'), /✓ +updated +1/, 'the last picture stays');
    assert.ok(raw().includes('\u001B[48;5;'));
  });

  it('shows why a rollout is halted, and which nodes failed', async () => {
    fleet('n1', 'n2');
    world.pod('n1', 'new', false);
    const { shows, io } = onTerminal();
    await follow(['web'], io, async () => {
      await eventually('the picture', shows(/Rolling out/));
      world.rollout({
        ...observed,
        halted: { at: '2020-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] },
        reservations: [{ node: 'n1', podUID: 'u', rollout: 1, at: '2020-01-01T00:00:00.000Z', carriedOut: true }],
      });
      await eventually('the halt', shows(/Halted: 1 failed[^]*HALTED[^]*n1 failed: /));
    });
  });

  it('shows the open stage of a plan, and what it waits for', async () => {
    fleet('n1', 'n2');
    const stages = [
      stage('canary', 'Open', { awaits: { reason: 'Soak', message: 'soaks until noon' } }),
      stage('rest', 'Closed'),
    ];
    const { tty, shows, io } = onTerminal();
    await follow(['web'], io, async () => {
      await eventually('the picture', shows(/outdated/));
      assert.doesNotMatch(tty.lines().join('\n'), /^ stage/m);
      world.rollout({ ...observed, plan: 'rings', stages });
      await eventually('the stage', shows(/stage +░+ +0 of 3 in canary[^]*Stage canary soaks until noon\./));
    });
  });

  it('draws again when the window is resized, and groups nodes that do not fit', async () => {
    fleet(...Array.from({ length: 300 }, (_, index) => `n${index}`));
    const { tty, shows, io } = onTerminal();
    await follow(['web'], io, async () => {
      await eventually('the picture', shows(/outdated +300/));
      tty.size.columns = 40;
      tty.size.rows = 16;
      await eventually('the smaller picture', shows(/one cell = \d+ nodes/));
      assert.ok(tty.lines().length < 16);
      for (const line of tty.lines()) assert.ok(line.length <= 40, line);
    });
  });

  it('survives a watch that fails, and says so meanwhile', async () => {
    fleet('n1', 'n2');
    const { shows, io } = onTerminal();
    await follow(['web'], io, async () => {
      await eventually('the picture', shows(/outdated/));
      let refusals = 6;
      world.api.fault = () => {
        refusals -= 1;
        return refusals >= 0 ? { status: 500, reason: 'InternalError', message: 'on\u0007fire' } : undefined;
      };
      world.api.endWatches();
      await eventually('the trouble', shows(/The watch failed \(.*on\\u0007fire\); retrying/));
      world.pod('n1', 'new');
      await eventually('the change', shows(/✓ +n1/));
    });
  });

  it('waits for a DaemonSet that was deleted, and follows the next one of that name', async () => {
    fleet('n1');
    const { shows, io } = onTerminal();
    await follow(['web'], io, async () => {
      await eventually('the picture', shows(/· +n1/));
      world.api.remove(SETS, 'web');
      await eventually('the end', shows(/DaemonSet shop\/web does not exist, or is not managed/));
      world.daemonSet();
      await eventually('the next one', shows(/· +n1/));
    });
  });
});
