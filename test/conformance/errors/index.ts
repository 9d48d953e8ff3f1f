import assert from 'node:assert/strict';
import { type CaseKind, type Rule, section } from '../kit/index.ts';
import { edgeset, untilSaid } from '../plugin/run.ts';

const WHY = /The manager cannot process Node \S+: these labels cannot be read/;

/** What the shipped manager does with an object that it fails to process, for one kind of DaemonSet. */
export const errorRules = (kind: CaseKind): Rule[] =>
  section('Internal errors', (rule) => {
    rule(
      'hold the rollout, are reported everywhere with the object and the error, and end with their cause',
      async (c) => {
        await c.startManager({ unreadable: true });
        await c.rolledOut();
        const [node = ''] = c.nodes;
        const mark = (value: string | null): Promise<unknown> =>
          c.api.merge(`/api/v1/nodes/${node}`, { metadata: { annotations: { 'test.edgeset.io/unreadable': value } } });
        await mark('yes');
        await c.untilCondition('Stalled');
        await c.setImage('app:v2');
        await c.expectNoUpdatesFor(3);
        const stalled = await c.condition('Stalled');
        assert.equal(stalled?.reason, 'InternalError');
        assert.match(stalled.message, WHY);
        assert.ok(stalled.message.includes(node));
        assert.equal((await c.condition('Ready'))?.status, 'False');
        await c.until('the DaemonSet says so, too', async () => {
          const { conditions = [] } = (await c.daemonSet()).status ?? {};
          return conditions.some(
            ({ type, status, reason }) => `${type} ${status} ${reason}` === 'Stalled True InternalError',
          );
        });
        await c.untilEvent('InternalError');
        assert.equal((await c.events('InternalError')).length, 1);
        await untilSaid(c, /Internal error/, 'status', 'app');
        await untilSaid(c, WHY, 'explain', 'app');
        await c.until('the metrics say so', async () => {
          const text = await (await fetch(`${c.manager.metrics}/metrics`)).text();
          return /edgeset_rollout_hold\{[^}]*hold="error"\} 1/.test(text);
        });
        // The manager looks at the new template with its next try, which may be 30 s away.
        const waited = await edgeset(c, 'wait', 'app', '--timeout=60s');
        assert.equal(waited.code, 3, waited.stderr);
        await c.manager.stop();
        await c.setImage('app:v3');
        const unseen = await edgeset(c, 'wait', 'app', '--timeout=2s');
        assert.equal(unseen.code, 1, unseen.stderr);
        await mark(null);
        await c.startManager();
        await c.untilRunning('app:v3');
        await c.untilCondition('Stalled', 'False');
      },
      { kind, manager: 'none', expected: /cannot process|internal error|failed to take in|processing failed/ },
    );
  });
