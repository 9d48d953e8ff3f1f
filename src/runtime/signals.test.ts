import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { anySignal } from './signals.ts';

describe('anySignal', () => {
  it('aborts with the reason of the first signal, and stops listening to the others', () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const either = anySignal(a.signal, b.signal);
    assert.equal(either.aborted, false);
    const reason = new Error('b is aborted');
    b.abort(reason);
    assert.equal(either.reason, reason);
    assert.deepEqual(getEventListeners(a.signal, 'abort'), []);
    a.abort(new Error('too late'));
    assert.equal(either.reason, reason);
  });

  it('is aborted when one of them already is', () => {
    const reason = new Error('aborted before');
    const open = new AbortController().signal;
    assert.equal(anySignal(open, AbortSignal.abort(reason)).reason, reason);
    assert.deepEqual(getEventListeners(open, 'abort'), []);
  });
});
