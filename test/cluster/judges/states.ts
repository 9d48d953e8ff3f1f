import type { Annotations, Case, CaseKind } from '../../conformance/kit/index.ts';

/** What somebody who waits for the rollout should be told. */
export type Truth = 'done' | 'at rest' | 'busy' | 'paused' | 'stuck' | 'opted out';

/** A state of a rollout that other tools must tell apart. */
export interface State {
  name: string;
  truth: Truth;
  arrange: (c: Case, kind: CaseKind) => Promise<unknown>;
  /** Only for one of the kinds. */
  only?: CaseKind;
}

const ota: Annotations = { 'apps.openyurt.io/update-strategy': 'ota' };

/** The state of conditions, by the object that a user waits for. */
const untilReason = (c: Case, reason: string): Promise<unknown> =>
  c.until(`the reason is ${reason}`, async () =>
    (await c.status()).conditions?.some((condition) => condition.type === 'Ready' && condition.reason === reason),
  );

const halt = async (c: Case): Promise<void> => {
  await c.startRollout('app:v2--crash-loop');
  await c.untilCondition('Halted');
};

export const states: readonly State[] = [
  { name: 'complete', truth: 'done', arrange: (c) => c.rolledOut() },
  {
    name: 'in progress',
    truth: 'busy',
    async arrange(c) {
      await c.startRollout('app:v2--never-ready');
      await c.untilUpdates(1);
    },
  },
  {
    name: 'held at a partition',
    truth: 'at rest',
    async arrange(c, kind) {
      await c.rolledOut(
        kind === 'native' ? { annotations: { 'edgeset.io/partition': '2' } } : { rollingUpdate: { partition: '50%' } },
      );
      await c.setImage('app:v2');
      await untilReason(c, 'LeftOnOldRevision');
    },
  },
  {
    name: 'waiting for owners',
    truth: 'at rest',
    async arrange(c) {
      await c.startRollout('app:v2', { annotations: ota });
      await untilReason(c, 'OwnerDecides');
    },
  },
  {
    name: 'OnDelete',
    truth: 'at rest',
    only: 'advanced',
    async arrange(c) {
      await c.startRollout('app:v2', { updateStrategy: 'OnDelete' });
      await untilReason(c, 'OnDelete');
    },
  },
  {
    name: 'paused',
    truth: 'paused',
    async arrange(c, kind) {
      await c.rolledOut(
        kind === 'native' ? { annotations: { 'edgeset.io/paused': 'true' } } : { rollingUpdate: { paused: true } },
      );
      await c.setImage('app:v2');
      await untilReason(c, 'Paused');
    },
  },
  { name: 'halted', truth: 'stuck', arrange: halt },
  {
    name: 'invalid policy',
    truth: 'stuck',
    async arrange(c) {
      await c.rolledOut();
      await c.annotate({ 'edgeset.io/settle-seconds': 'soon' });
      await untilReason(c, 'InvalidPolicy');
    },
  },
  {
    name: 'complete, a node offline',
    truth: 'done',
    async arrange(c) {
      await c.rolledOut();
      await c.cluster.offline(c.nodes.slice(2));
      await c.setImage('app:v2');
      await c.untilComplete('app:v2', c.nodes.slice(0, 2));
    },
  },
  {
    // Kubernetes taints a node that is offline. For pods that tolerate it, the native controller still wants the node updated.
    name: 'complete, a tolerated node offline',
    truth: 'done',
    async arrange(c) {
      await c.rolledOut({ podSpec: { tolerations: [{ operator: 'Exists' }] } });
      await c.cluster.offline(c.nodes.slice(2));
      await c.setImage('app:v2');
      await c.untilComplete('app:v2', c.nodes.slice(0, 2));
    },
  },
  {
    name: 'manager down, new template',
    truth: 'busy',
    async arrange(c) {
      await c.rolledOut();
      await c.until('the conditions say so', async () => {
        const { conditions = [] } = (await c.daemonSet()).status ?? {};
        return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
      });
      c.manager.kill();
      await c.setImage('app:v2');
    },
  },
  {
    name: 'opted out, was halted',
    truth: 'opted out',
    only: 'native',
    async arrange(c) {
      await halt(c);
      await c.annotate({ 'apps.openyurt.io/update-strategy': null });
      await c.until('it is not managed', async () => (await c.status()).summary === 'Not managed');
    },
  },
];
