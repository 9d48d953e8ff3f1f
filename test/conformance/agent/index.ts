import assert from 'node:assert/strict';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import type { AuditRecord } from '../audit-record.ts';
import { type Case, section } from '../kit/index.ts';
import { announced, type Owner, withOwner } from './owner.ts';

/** What agents wrote in the case's namespace, told by the API server; Events are no acts. */
const writesOf = async (c: Case, { agent }: Owner): Promise<AuditRecord[]> =>
  (await c.cluster.audit.read()).filter(
    ({ user, namespace, verb, resource }) =>
      user === agent.user &&
      namespace === c.namespace &&
      resource !== 'events' &&
      !['get', 'list', 'watch'].includes(verb),
  );

const said = ({ verb, resource, name, code }: AuditRecord): string => `${verb} ${resource} ${name}: ${code}`;

/** What an owner does through the agent of the node, under the rights that are shipped. */
export const agentRules = section('The agent', (rule) => {
  rule('one call of the owner replaces one pod, and the agent sends one delete, of the very pod it read', async (c) => {
    const pod = await announced(c);
    await withOwner(c, undefined, async (owner) => {
      await c.until('the agent shows its pod', async () => (await owner.pods()).names.includes(pod));
      assert.deepEqual((await owner.pods()).names, [pod], 'pods of this node alone');
      assert.deepEqual(await owner.upgrade(pod), { status: 200, text: `Start updating pod ${c.namespace}/${pod}` });
      await c.untilRunning('app:v2', c.nodes.slice(0, 1));
      assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1));
      const [act, ...more] = await writesOf(c, owner);
      assert.deepEqual(more.map(said), []);
      assert.ok(act);
      assert.equal(said(act), `delete pods ${pod}: 200`);
      const { preconditions = {} } = act.request as { preconditions?: Record<string, string> };
      assert.deepEqual(Object.keys(preconditions).toSorted(), ['resourceVersion', 'uid']);
      // The embedded cluster knows no claims.
      assert.ok(act.node === undefined || act.node === c.nodes[0]);
      const [event] = await c.until('the DaemonSet has an Event of the agent', async () => {
        const path = `/apis/events.k8s.io/v1/namespaces/${c.namespace}/events`;
        const { items } = await c.api.get<{ items: Event[] }>(path);
        const own = items.filter(({ reportingController }) => reportingController === 'edgeset.io/agent');
        return own.length > 0 && own;
      });
      assert.equal(event?.regarding?.name, 'app');
      assert.equal(event.reportingInstance, c.nodes[0]);
    });
  });

  rule('a pod of another node is refused, and nothing is sent', async (c) => {
    await announced(c);
    await withOwner(c, undefined, async (owner) => {
      const { name } = await c.podOn(c.nodes[1]);
      const { status, text } = await owner.upgrade(name);
      assert.equal(status, 403, text);
      assert.match(text, new RegExp(`is running on ${c.nodes[1]}, can not be updated`));
      assert.deepEqual(await writesOf(c, owner), []);
    });
  });

  rule(
    'cut off and without power it still shows its pods, sends nothing, keeps what is asked of it, and acts once when it is back',
    async (c) => {
      const pod = await announced(c);
      const link = await c.cluster.link();
      try {
        await withOwner(c, link, async (owner) => {
          await c.until('the agent shows its pod', async () => (await owner.pods()).names.includes(pod));
          await owner.onDisk(pod);
          link.cut();
          await c.until('the agent knows that it is cut off', async () => (await owner.upgrade(pod)).status === 503);
          await owner.powerCut();
          assert.deepEqual((await owner.pods()).names, [pod]);
          const refused = await owner.upgrade(pod);
          assert.equal(refused.status, 503, refused.text);
          assert.match(refused.text, /OTA upgrade is not allowed when node is disconnected to cloud/);
          assert.deepEqual(await owner.upgrade(pod, '?queue=true'), {
            status: 202,
            text: `Queued updating pod ${c.namespace}/${pod}`,
          });
          await owner.powerCut();
          assert.deepEqual(await writesOf(c, owner), []);
          link.restore();
          await c.untilRunning('app:v2', c.nodes.slice(0, 1));
          assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
        });
      } finally {
        await link.close();
      }
    },
  );
});
