import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualClock } from '../../runtime/index.ts';
import { startMetrics } from './metrics.ts';

test('a query has the value that was set for it, and any other one has no sample', async () => {
  const metrics = await startMetrics(createVirtualClock(1_700_000_000_000, { fractionMs: 0 }));
  try {
    const ask = async (query: string, path = '/api/v1/query') => {
      const body = new URLSearchParams({ query, timeout: '10s' });
      const response = await fetch(`${metrics.address}${path}`, { method: 'POST', body });
      return { status: response.status, body: await response.json() };
    };
    const answer = (result: unknown[]) => ({
      status: 200,
      body: { status: 'success', data: { resultType: 'vector', result } },
    });
    metrics.set('errors{ring="lab"}', 0.25);
    assert.deepEqual(await ask('errors{ring="lab"}'), answer([{ metric: {}, value: [1_700_000_000, '0.25'] }]));
    assert.deepEqual(await ask('errors{ring="canary"}'), answer([]));
    metrics.set('errors{ring="lab"}', 0);
    assert.deepEqual(await ask('errors{ring="lab"}'), answer([{ metric: {}, value: [1_700_000_000, '0'] }]));
    assert.equal((await ask('errors{ring="lab"}', '/')).status, 404);
  } finally {
    await metrics.close();
  }
});
