import assert from 'node:assert/strict';
import { type Case, section, strategyKey } from '../kit/index.ts';
import { edgeset, refuses, succeeds, untilExplained, untilSaid } from './run.ts';

const ROLLING = 'spec\\.updateStrategy\\.rollingUpdate';
const slow = { 'sim.edgeset.io/start-ms': '6000' };

interface Planned {
  budget: number;
  keptBack: Record<string, number>;
  actions: { type: string; node: string; kind?: string }[];
}

const plan = async (c: Case, ...args: string[]): Promise<Planned> =>
  JSON.parse((await edgeset(c, 'plan', 'app', '-o', 'json', ...args)).stdout) as Planned;

const uids = async (c: Case): Promise<string[]> => (await c.pods()).map(({ uid }) => uid).toSorted();

/** The current template must be recorded first: only then is it certain what the command changes. */
const untilRecorded = (c: Case): Promise<unknown> =>
  c.until('the current template is recorded', async () => {
    const { metadata, status } = await c.advanced();
    return status?.observedGeneration === metadata.generation;
  });

const paused = async (c: Case): Promise<boolean | undefined> =>
  (await c.advanced()).spec.updateStrategy?.rollingUpdate?.paused;

export const advancedOnes = section(
  'Advanced DaemonSets',
  (rule) => {
    rule(
      'one is named as in kubectl, and a name that both kinds have is ambiguous',
      async (c) => {
        await c.create();
        for (const spelled of ['app', 'ads/app', 'daemon/app', 'ADS/app'])
          assert.match(succeeds(await edgeset(c, 'explain', spelled))[0], /\/app: 0 of 1 online nodes/, spelled);
        for (const spelled of ['daemonset.apps.kruise.io/app', 'daemonsets.v1beta1.apps.kruise.io/app'])
          assert.match(
            succeeds(await edgeset(c, 'pause', spelled, '--dry-run'))[0],
            /^daemonset\.apps\.kruise\.io\/app /,
          );
        refuses(await edgeset(c, 'explain', 'ds/app'), /there is no DaemonSet .*\/app/);
        // The selector keeps them apart, and nothing else.
        await c.create({ name: 'app', podLabels: { kind: 'native' } }, 'native');
        for (const command of ['explain', 'plan', 'wait', 'pause', 'resume', 'history', 'undo'])
          refuses(
            await edgeset(c, command, 'app'),
            /there are two DaemonSets .*\/app: give ds\/app for the native one, or ads\/app for the Advanced one/,
          );
        assert.match(succeeds(await edgeset(c, 'pause', 'ds/app', '--dry-run'))[0], /^daemonset\.apps\/app paused/);
        assert.match(
          succeeds(await edgeset(c, 'pause', 'ads/app', '--dry-run'))[0],
          /^daemonset\.apps\.kruise\.io\/app /,
        );
      },
      { nodes: 1, manager: 'none' },
    );

    rule('status lists both kinds distinctly', async (c) => {
      await c.rolledOut();
      await c.create({ name: 'other' }, 'native');
      const listed = await untilSaid(c, /^other +Complete/m, 'status');
      assert.match(listed, /^NAME +STATUS +TARGET .*\nads\/app +Complete +\w+ +3\/3 .*\nother +Complete /);
      assert.match(succeeds(await edgeset(c, 'status', 'app'))[0], /^NAME .*\nads\/app +Complete .*\n$/);
      assert.match(succeeds(await edgeset(c, 'status', 'daemon/app', '-o', 'name'))[0], /app\.apps\.kruise\.io\n$/);
      refuses(await edgeset(c, 'status', 'ds/app'), /there is no rollout of a DaemonSet app /);
    });

    rule('an in-place update is planned as one, waited for, and described', async (c) => {
      const [first = ''] = c.nodes;
      await c.rolledOut({ rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' }, podAnnotations: slow });
      const before = await uids(c);
      succeeds(await edgeset(c, 'pause', 'app'));
      await c.setImage('app:v2');
      await untilRecorded(c);
      await c.untilCondition('Paused');
      assert.match(
        succeeds(await edgeset(c, 'plan', 'app'))[0],
        /^The rollout is paused\. Run "kubectl edgeset resume ads\/app -n [^"]+"\.$/m,
      );
      assert.deepEqual((await plan(c)).actions, []);
      const { actions, budget } = await plan(c, '--unpaused', '--max-unavailable', '2');
      assert.equal(budget, 2);
      assert.deepEqual(
        actions.map(({ type, kind }) => [type, kind]),
        [
          ['reserve', 'in-place'],
          ['reserve', 'in-place'],
        ],
      );
      assert.match(
        succeeds(await edgeset(c, 'plan', 'app', '--unpaused'))[0],
        /^ {2}update the pod on \S+ in place: its revision is outdated$/m,
      );
      assert.equal(await paused(c), true, 'nothing was written');
      succeeds(await edgeset(c, 'resume', 'app'));
      await c.untilUpdates(1);
      const [node = first] = await c.updatedNodes();
      await untilExplained(
        c,
        node,
        'updating (changing)',
        /is restarting containers of its pod at the target revision/,
      );
      assert.match(succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'))[0], /^3 of 3 online nodes run app-/);
      assert.deepEqual(await uids(c), before);
      // Another template than one that can be had in place.
      await c.change({
        spec: { updateStrategy: { rollingUpdate: { paused: true } }, template: { spec: { hostNetwork: true } } },
      });
      await untilRecorded(c);
      const others = (await plan(c, '--unpaused')).actions;
      assert.deepEqual(
        others.map(({ type, kind }) => [type, kind]),
        [['reserve', undefined]],
      );
    });

    rule(
      'a surge is planned as one, and described while both pods exist',
      async (c) => {
        await c.startRollout('app:v2', { rollingUpdate: { maxSurge: 1 }, podAnnotations: slow });
        await untilRecorded(c);
        const [node = ''] = await c.until('a new pod is beside the old one', async () => {
          const all = (await c.pods()).map((pod) => pod.node);
          const twice = all.filter((name, index) => all.indexOf(name) < index);
          return twice.length > 0 ? twice : undefined;
        });
        await untilExplained(
          c,
          node,
          'updating (surging)',
          /keeps its old pod until the new one beside it is available/,
        );
        const other = c.nodes.find((name) => name !== node) ?? '';
        await untilExplained(c, other, 'outdated (available)', new RegExp(`Raise ${ROLLING}\\.maxSurge for more`));
        succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
        succeeds(await edgeset(c, 'pause', 'app'));
        await c.setImage('app:v3');
        await untilRecorded(c);
        assert.match(
          succeeds(await edgeset(c, 'plan', 'app', '--unpaused'))[0],
          /^ {2}create a new pod on \S+ next to the old one: its revision is outdated$/m,
        );
        // Who names the other bound gives this one up.
        assert.equal((await plan(c, '--unpaused', '--max-unavailable', '2')).actions[1]?.kind, undefined);
      },
      { nodes: 2 },
    );

    rule(
      'a pod that waits for its preDelete hook is described, with what it waits for',
      async (c) => {
        const [node = ''] = c.nodes;
        const preDelete = { labelsHandler: { hold: 'yes' }, markPodNotReady: true };
        await c.startRollout('app:v2', { podLabels: { hold: 'yes' }, spec: { lifecycle: { preDelete } } });
        const said = await untilExplained(
          c,
          node,
          'updating (preparing)',
          /has a pod that is deleted once the label or finalizer of its preDelete hook is gone/,
        );
        assert.match(
          said,
          /^Note: spec\.lifecycle\.preDelete: a pod is deleted once your controller has removed its label hold=yes/m,
        );
        const { name } = await c.podOn(node);
        await c.api.merge(`/api/v1/namespaces/${c.namespace}/pods/${name}`, { metadata: { labels: { hold: null } } });
        succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      },
      { nodes: 1 },
    );

    rule(
      'plan and wait say what a partition and a selector hold back',
      async (c) => {
        const [, , , last = ''] = c.nodes;
        await c.startRollout('app:v2', { rollingUpdate: { partition: 3 } });
        const [said] = succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
        assert.match(said, /^1 of 4 online nodes run .* left on the old revision/);
        assert.deepEqual(await c.running('app:v2'), [last]);
        assert.match(
          succeeds(await edgeset(c, 'plan', 'app'))[0],
          new RegExp(
            `^The manager would do nothing now\\.\nOnline but held back: 3 by ${ROLLING}\\.partition\\.$`,
            'm',
          ),
        );
        assert.deepEqual((await plan(c)).keptBack, { partition: 3 });
        const half = await plan(c, '--partition', '50%', '--max-unavailable', '100%');
        assert.deepEqual([half.keptBack, half.actions.length], [{ partition: 2 }, 1]);
        const chosen = await plan(c, '--partition', '0', '--node-selector', 'ring in (first, second)');
        assert.deepEqual([chosen.keptBack, chosen.actions], [{ 'node-selector': 3 }, []]);
        for (const [flag, value, words] of [
          ['--max-unavailable', 'many', /--max-unavailable: "many" is neither an integer nor a percentage/],
          ['--partition', '-1', /--partition: "-1" is neither/],
          ['--node-selector', 'ring in', /--node-selector: "ring in" /],
        ] as const) {
          const { code, stderr } = await edgeset(c, 'plan', 'app', `${flag}=${value}`);
          assert.equal(code, 2, stderr);
          assert.match(stderr, words);
        }
        await untilExplained(
          c,
          c.nodes[0] ?? '',
          'held (partition)',
          new RegExp(`kept on the older revision by ${ROLLING}\\.partition`),
        );
      },
      { nodes: 4 },
    );

    rule('pause and resume write one field of the spec, and a dry run none', async (c) => {
      await c.rolledOut({ version: 'v1alpha1' });
      assert.match(succeeds(await edgeset(c, 'resume', 'app'))[0], /is neither paused nor halted\n$/);
      const dry = await edgeset(c, 'pause', 'ads/app', '--dry-run=server');
      assert.equal(dry.stdout, 'daemonset.apps.kruise.io/app paused (server dry run)\n');
      const before = await c.advanced();
      assert.equal(await paused(c), before.spec.updateStrategy?.rollingUpdate?.paused);
      assert.equal((await edgeset(c, 'pause', 'app')).stdout, 'daemonset.apps.kruise.io/app paused\n');
      const after = await c.advanced();
      assert.equal(await paused(c), true);
      assert.deepEqual(
        { ...after.spec, updateStrategy: undefined },
        { ...before.spec, updateStrategy: undefined },
        'nothing else was written',
      );
      assert.equal((await edgeset(c, 'pause', 'app')).stdout, 'daemonset.apps.kruise.io/app is already paused\n');
      await c.setImage('app:v2');
      await c.untilCondition('Paused');
      await c.expectNoUpdatesFor(2);
      assert.equal((await edgeset(c, 'resume', 'app')).stdout, 'daemonset.apps.kruise.io/app unpaused\n');
      assert.equal(await paused(c), false);
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await c.running('app:v2'), c.nodes);
    });

    rule('wait after an edit waits for that edit, and exits with 3 at a halt, until resume', async (c) => {
      await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      const late = await edgeset(c, 'wait', 'app', '--timeout', '1s');
      assert.deepEqual([late.code, late.stdout], [1, '']);
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await c.running('app:v2'), c.nodes);
      await c.cluster.behave(c.nodes, { behaviour: 'crash-loop' });
      await c.setImage('app:v3');
      const halted = await edgeset(c, 'wait', 'app', '--timeout', '90s');
      assert.equal(halted.code, 3);
      assert.match(halted.stderr, /The rollout is halted: the target revision failed on/);
      await c.cluster.behave(c.nodes, undefined);
      assert.match(
        succeeds(await edgeset(c, 'resume', 'app'))[0],
        /^daemonset\.apps\.kruise\.io\/app resumed at revision \w+\n$/,
      );
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await c.running('app:v3'), c.nodes);
    });

    rule('explain quotes why a template is refused, and undo goes back to the one before', async (c) => {
      await c.startRollout('app:v2');
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      const before = await uids(c);
      const containers = [{ name: 'app', image: 'app:v3', ports: [{ containerPort: 70_000 }] }];
      await c.change({ spec: { template: { spec: { containers } } } });
      const told = await untilSaid(c, /^The DaemonSet is not valid\. .*containerPort/m, 'explain', 'app');
      assert.doesNotMatch(told, /has not recorded|is running|The manager reports/);
      assert.match(succeeds(await edgeset(c, 'plan', 'app'))[0], /^The DaemonSet is not valid\. .*containerPort/m);
      assert.match(
        succeeds(await edgeset(c, 'undo', 'app', '--dry-run'))[0],
        /^daemonset\.apps\.kruise\.io\/app rolled back to revision 2 \(app:v2\) \(dry run\)\n.*app:v3 -> app:v2$/m,
      );
      succeeds(await edgeset(c, 'undo', 'app'));
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await uids(c), before, 'no pod was touched');
    });

    rule(
      'explain advises no wider surge where new pods find no free host port',
      async (c) => {
        const container = (image: string) => [{ name: 'app', image, ports: [{ containerPort: 80, hostPort: 8085 }] }];
        await c.rolledOut({ rollingUpdate: { maxSurge: 1 }, podSpec: { containers: container('app:v1') } });
        await c.change({ spec: { template: { spec: { containers: container('app:v2') } } } });
        const told = await untilSaid(c, /1 new pod has no place beside the old one: /, 'explain', 'app');
        assert.match(told, /^outdated \(available\): /m);
        assert.match(told, /free ports.* If they do not fit on a node, set maxUnavailable in place of maxSurge/);
        assert.doesNotMatch(told, /Raise/);
      },
      { nodes: 2 },
    );

    rule(
      'a native DaemonSet with the name of its DaemonRollout is held with a cause, and takes it from nobody',
      async (c) => {
        const name = 'app.apps.kruise.io';
        const cause =
          /metadata\.name "app\.apps\.kruise\.io" ends in \.apps\.kruise\.io, .*create it again under another name/;
        await c.create({ name }, 'native');
        const waited = await edgeset(c, 'wait', `ds/${name}`, '--timeout', '60s');
        assert.deepEqual([waited.code, cause.test(waited.stderr)], [3, true], waited.stderr);
        await c.rolledOut();
        await c.bringTo('app:v2');
        const jsonpath = '-o=jsonpath={.status.conditions[?(@.type=="Stalled")].message}';
        assert.match(await c.kubectl(['get', 'daemonset.apps', name, jsonpath]), cause);
        const told = ['get', 'events', '--field-selector=reason=InvalidPolicy', '-o=jsonpath={.items[*].message}'];
        assert.match(await c.kubectl(told), cause);
        assert.match(succeeds(await edgeset(c, 'explain', `ds/${name}`))[0], cause);
        const [rows, notes] = succeeds(await edgeset(c, 'status', `ds/${name}`));
        assert.match(rows, /^NAME .*\napp\.apps\.kruise\.io +Invalid policy .*\n$/);
        assert.match(notes, cause);
        assert.match(succeeds(await edgeset(c, 'status', 'ads/app'))[0], /^NAME .*\nads\/app +Complete .*\n/);
        const all = succeeds(await edgeset(c, 'status'))[0];
        assert.deepEqual(all.match(/^\S+/gm), ['NAME', 'ads/app', name]);

        await c.kubectl(['annotate', 'daemonset.apps', name, `${strategyKey}-`]);
        await c.until(
          'nothing is left of it',
          async () => (await c.kubectl(['get', 'daemonset.apps', name, jsonpath])) === '',
        );
      },
      { nodes: 1 },
    );

    rule(
      'other controllers of the same pods are reported, with what to do',
      async (c) => {
        await c.create({ name: 'app' }, 'native');
        await c.untilRunning('app:v1');
        await c.create();
        const stalled = await edgeset(c, 'wait', 'ads/app', '--timeout', '90s');
        assert.equal(stalled.code, 3);
        assert.match(stalled.stderr, /delete daemonset\.apps app --cascade=orphan/);
        for (const command of ['explain', 'plan'])
          assert.match(
            succeeds(await edgeset(c, command, 'ads/app'))[0],
            /Another controller manages the same pods.*delete daemonset\.apps app --cascade=orphan/,
          );
      },
      { nodes: 1 },
    );
  },
  { kind: 'advanced' },
);
