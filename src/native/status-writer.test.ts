import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, decide, parsePolicy, statusOf } from '../rollout/index.ts';
import { createStatusWriter } from './status-writer.ts';

const policyOf = () => {
  const annotations = { 'apps.openyurt.io/update-strategy': 'auto' };
  const parsed = parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
  assert.equal(parsed.kind, 'on');
  return parsed.policy;
};

describe('the status writer', () => {
  it('looks for news once a second, also while there is none: a status is as long as what is in flight', async () => {
    const ledger = createLedger(policyOf());
    const at = 1_700_000_000_000;
    let now = at;
    const decision = decide(ledger, undefined, now);
    const status = statusOf({ ledger, decision, generation: 1, policyHash: 'p', previous: undefined, now });
    let writes = 0;
    const object = {
      status,
      version: '1',
      loaded: true,
      load: () => Promise.resolve(status),
      forget: () => undefined,
      write: () => Promise.resolve(void (writes += 1)),
    };
    const teller = { written: () => undefined } as unknown as Parameters<typeof createStatusWriter>[0]['teller'];
    const clock = { now: () => now, timer: () => ({ cancel: () => undefined }) };
    const writer = createStatusWriter({ object, teller, clock, observe: {} });
    const { signal } = new AbortController();

    assert.ok(writer.dueAt() <= now);
    await writer.write(status, false, signal);
    assert.equal(writes, 0);
    assert.equal(writer.dueAt(), at + 1_000);
    now += 1_000;
    assert.ok(writer.dueAt() <= now);
    await writer.write({ ...status, summary: 'news' }, false, signal);
    assert.equal(writes, 1);
    assert.equal(writer.dueAt(), at + 2_000);
  });
});
