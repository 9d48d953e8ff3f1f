import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { app, approveNow, decide, openWithUpdate, stateOf, targetOf } from '../testing/scenario.ts';
import type { Choice, Update } from '../types.ts';
import { type ChoiceFacts, choicesOf } from './choices.ts';

const NIGHT = { from: '02:00', to: '05:00' };
const later: Choice = { choice: 'postpone', until: '2026-11-23T12:00:00Z' };

const short = ({ approve, postpone, reject, tonight }: Update['choices']): string =>
  Object.entries({ approve, postpone, reject, tonight })
    .filter(([, accepted]) => accepted)
    .map(([name]) => name)
    .join(' ');

describe('the choices of an owner', () => {
  const record: ChoiceFacts['tracked']['record'] = {
    namespace: 'default',
    daemonSet: 'app',
    apiVersion: 'apps/v1',
    uid: 'u',
    running: { revision: 'r1', images: [] },
    announced: { revision: 'r2', need: 'yes', reason: 'NewRevision' },
    announcedBy: 'p',
    details: null,
    terms: { ota: true, deadline: undefined },
    updateInProgress: null,
  };
  const decision = (revision: string, state: 'open' | 'acting' = 'open'): ChoiceFacts['decision'] => ({
    ...app,
    id: 1,
    revision,
    decision: { choice: 'reject' },
    by: { identity: 'uid:0', via: 'loopback' },
    at: '2026-11-21T12:00:00Z',
    state,
  });
  const all = 'approve postpone reject tonight';
  const withheld = { revision: 'r2', need: 'withheld', reason: 'Paused' } as const;
  const table: [string, Partial<typeof record>, Partial<ChoiceFacts>, string][] = [
    ['a new version', {}, {}, all],
    ['a new version, decided', {}, { decision: decision('r2') }, all],
    ['a deadline', {}, { deadline: { at: 0, spreadMs: 0, share: 0 } }, 'approve postpone tonight'],
    ['acting', {}, { decision: decision('r2', 'acting') }, ''],
    ['nothing new', { announced: { revision: 'r1', need: 'no', reason: 'UpToDate' } }, {}, ''],
    ['a halted version', { announced: { revision: 'r2', need: 'halted', reason: 'Halted' } }, {}, 'postpone reject'],
    ['a version that is withheld', { announced: withheld }, {}, ''],
    ['a version that is withheld, decided', { announced: withheld }, { decision: decision('r2') }, all],
    ['a version that is withheld, another one decided', { announced: withheld }, { decision: decision('r1') }, ''],
    ['no longer in OTA mode', { terms: { ota: false, deadline: undefined } }, {}, ''],
  ];
  for (const [name, of, more, expected] of table)
    it(`for ${name}: ${expected === '' ? 'none' : expected}`, () => {
      const facts: ChoiceFacts = {
        tracked: { record: { ...record, ...of }, pod: undefined },
        decision: undefined,
        deadline: undefined,
        ...more,
      };
      assert.equal(short(choicesOf(facts, NIGHT)), expected);
    });

  it('are those that the agent accepts', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, { 'edgeset.io/ota-deadline': '2026-11-22T12:00:00Z' });
    const shown = (): Update['choices'] => agent.updates()[0]?.choices ?? assert.fail();
    await testbed.until('the deadline is known', () => !shown().reject);
    assert.deepEqual(shown(), { approve: true, postpone: true, reject: false, tonight: NIGHT });
    assert.partialDeepStrictEqual(await decide(agent, { choice: 'reject' }), { status: 409, reason: 'Required' });
    assert.equal(stateOf(agent), 'available NewRevision');
    assert.partialDeepStrictEqual(await decide(agent, later), { status: 201 });
    assert.equal(agent.updates()[0]?.deadline?.first, true);
    const annotations = { 'edgeset.io/ota-deadline': '2026-11-21T20:00:00Z' };
    testbed.patchDaemonSet({ metadata: { annotations } });
    await testbed.until('it is tonight, before the night', () => shown().tonight === null);
    testbed.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': null } } });
    await testbed.until('the deadline is gone', () => shown().reject);
    assert.equal(short(shown()), all);
    assert.partialDeepStrictEqual(await decide(agent, { choice: 'reject' }), { status: 201 });
    assert.partialDeepStrictEqual(await decide(agent, approveNow), { status: 202 });
    await testbed.until('it is under way', () => stateOf(agent).startsWith('updating'));
    assert.equal(short(shown()), '');
    assert.partialDeepStrictEqual(await decide(agent, later, targetOf(agent)), { status: 409, reason: 'UnderWay' });
  });
});
