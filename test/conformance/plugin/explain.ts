import assert from 'node:assert/strict';
import { budgetKey, type Case, refusePods, section } from '../kit/index.ts';
import { edgeset, untilExplained, untilSaid } from './run.ts';

const podsOf = ({ namespace }: Case): string => `/api/v1/namespaces/${namespace}/pods`;

const refuseNewPods = (c: Case): Promise<() => Promise<void>> =>
  refusePods(c, { operation: 'CREATE', expression: 'false', message: 'no pod today' });

const slow = { 'sim.edgeset.io/start-ms': '6000' };

export const explaining = section('explain', (rule) => {
  rule(
    'describes nodes that are updated, outdated, broken, updating and held',
    async (c) => {
      const [first = '', second = '', third = ''] = c.nodes;
      await c.rolledOut({ podAnnotations: slow });
      await untilExplained(c, first, 'updated (current)', /runs the target revision\./);

      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.setImage('app:v2');
      await untilExplained(
        c,
        first,
        'outdated (available)',
        /The rollout is paused\. Run "kubectl edgeset resume (ds|ads)\/app -n /,
      );
      // It has the only slot for the rest of the case. Set before its pod breaks: `behave` would mend it.
      await c.cluster.behave([third], { startMs: 300_000 });
      await c.breakPod(third);
      await untilExplained(c, third, 'broken (not-available)', /The rollout is paused/);
      await untilExplained(c, first, 'outdated (available)', /paused/);

      await c.annotate({ 'edgeset.io/paused': null });
      await untilExplained(c, third, 'updating (starting)', /is starting the target revision/);
      await untilExplained(c, second, 'outdated (available)', /waits for a free slot of the budget/);
      assert.match((await edgeset(c, 'explain', 'ds/app')).stdout, /1 of 1 slots of the budget are in use\./);

      await c.annotate({ 'edgeset.io/partition': '3' });
      await untilExplained(c, second, 'held (partition)', /kept on the older revision by edgeset\.io\/partition/);
      await c.annotate({ 'edgeset.io/partition': null, 'edgeset.io/node-selector': 'ring=first' });
      await untilExplained(c, second, 'held (node-selector)', /does not match edgeset\.io\/node-selector/);
    },
    { nodes: 4 },
  );

  rule(
    'describes nodes that are offline, before and soon after their update, and those that settle',
    async (c) => {
      const [away = '', other = ''] = c.nodes;
      await c.rolledOut({ annotations: { 'edgeset.io/settle-seconds': '20' }, podAnnotations: slow });
      await c.cluster.offline([away]);
      await c.setImage('app:v2');
      await untilExplained(
        c,
        away,
        'offline (offline-outdated)',
        /has been offline for \d+ s \(last seen at \S+Z\); it is skipped/,
      );
      await c.until('the other one is acted on', async () => (await c.updatedNodes()).includes(other));
      await c.cluster.offline([other]);
      await untilExplained(c, other, 'offline (suspect)', /went offline \d+ s ago, soon after its update/);
      await c.cluster.online([away]);
      const told = await untilExplained(
        c,
        away,
        'settling (returned)',
        /back online for \d+ s; .* for 20 s.*re-evaluated in \d+ s/,
      );
      assert.doesNotMatch(told, /Note/);
      const whole = await untilSaid(c, /^settling \(returned\): /m, 'explain', 'app');
      assert.match(whole, /^offline \(suspect\): /m);
    },
    { nodes: 2 },
  );

  for (const [behaviour, cause, sentence] of [
    ['crash-loop', 'crash-loop', /its new pod keeps crashing: .+/],
    ['not-pullable', 'image-pull', /the image of its new pod cannot be pulled: .+/],
    ['never-ready', 'deadline', /its new pod was not available within 4 s/],
  ] as const)
    rule(
      `describes nodes that failed: ${behaviour}`,
      async (c) => {
        await c.startRollout(`app:v2--${behaviour}`, { annotations: { 'edgeset.io/progress-deadline-seconds': '4' } });
        await c.untilCondition('Halted');
        const [node = ''] = await c.updatedNodes();
        await untilExplained(c, node, `failed (${cause})`, sentence);
        const other = c.nodes.find((name) => name !== node) ?? '';
        await untilExplained(c, other, 'outdated (available)', new RegExp(`halted: .* failed on 1 node: ${node}\\.`));
      },
      { nodes: 2 },
    );

  rule(
    'describes nodes without their pod',
    async (c) => {
      const [node = ''] = c.nodes;
      await c.rolledOut({ annotations: { [budgetKey]: '1' } });
      const lift = await refuseNewPods(c);
      await c.api.remove(`${podsOf(c)}/${(await c.podOn(node)).name}`);
      await untilExplained(c, node, 'missing (no-pod)', /has no pod, and no update deleted it.*Events/);
      await lift();
    },
    { nodes: 2 },
  );

  rule(
    'counts first pods neither as slots beyond the budget nor out of a rollout that starts',
    async (c) => {
      await refuseNewPods(c);
      await c.create({ annotations: { [budgetKey]: '1' } });
      await untilSaid(
        c,
        /^1 of 1 slots of the budget are in use: 3 online nodes are down, none of them by an update\.$/m,
        'explain',
        'app',
      );
      assert.match(
        (await edgeset(c, 'plan', 'app')).stdout,
        /^Budget 1, all in use: 3 online nodes are down, none of them by an update\.$/m,
      );
      await untilSaid(c, /^app +.* 1\/1 *$/m, 'status');
      await c.setImage('app:v2');
      assert.match((await c.untilEvent('RolloutStarted')).note ?? '', /to 3 online nodes, at most 1 at a time\.$/);
    },
    { refusals: true },
  );

  rule(
    'does not call a rollout done that is halted while its nodes are offline',
    async (c) => {
      await c.startRollout('app:v2--crash-loop');
      await c.untilCondition('Halted');
      await c.cluster.offline(c.nodes);
      const told = await untilSaid(c, /: 0 of 0 online nodes run .*; 1 offline\.$/m, 'explain', 'app');
      assert.match(told, /^The rollout is halted: .* failed on 1 node/m);
      for (const text of [told, (await edgeset(c, 'plan', 'app')).stdout]) assert.doesNotMatch(text, /Nothing is left/);
    },
    { nodes: 1 },
  );

  rule(
    'says why there is nothing to explain',
    async (c) => {
      await c.rolledOut();
      const failed = async (words: RegExp, ...args: string[]): Promise<void> => {
        const { code, stdout, stderr } = await edgeset(c, 'explain', ...args);
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, words);
        assert.equal(stderr.split('\n').length, 2, 'in one line');
      };
      await failed(/there is no DaemonSet .*\/nobody/, 'nobody');
      await failed(/there is no node "nowhere"/, 'app', '--node', 'nowhere');
      const { code, stdout } = await edgeset(c, 'explain', 'app', '--node', 'anchor');
      assert.equal(code, 0);
      assert.match(stdout, /^anchor: not-eligible\n.*lacks the label case=/);
      await c.annotate({ 'apps.openyurt.io/update-strategy': null });
      await failed(/did not opt in: set .* annotate it with apps\.openyurt\.io\/update-strategy=auto/, 'app');
    },
    { nodes: 1 },
  );
});
