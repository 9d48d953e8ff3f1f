import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, HopelessError, settledWithin } from './eventually.ts';

describe('eventually', () => {
  it('resolves with the first truthy answer, and takes an error for not yet', async () => {
    let asked = 0;
    const answer = await eventually('third answer', () => {
      asked += 1;
      if (asked === 1) throw new Error('not ready');
      return asked === 3 && 'ready';
    });
    assert.deepEqual([answer, asked], ['ready', 3]);
  });

  it('names what it waited for and the last error', async () => {
    const last = new Error('still not ready');
    const wait = eventually('the pod runs', () => Promise.reject(last), { withinMs: 20 });
    await assert.rejects(wait, { message: 'timed out after 20 ms: the pod runs', cause: last });
  });

  it('gives up at once when the probe says that it is hopeless', async () => {
    const probe = (): never => {
      throw new HopelessError('the process has exited');
    };
    await assert.rejects(eventually('the process answers', probe), { code: 'Hopeless' });
  });
});

describe('settledWithin', () => {
  it('passes the outcome through, and rejects when there is none in time', async () => {
    assert.equal(await settledWithin(Promise.resolve(1), 1000), 1);
    await assert.rejects(settledWithin(new Promise(() => undefined), 10), { message: 'not settled within 10 ms' });
  });
});
