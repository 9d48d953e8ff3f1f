import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeBackend } from './http/testing/fake-backend.ts';
import { createAgentMetrics } from './metrics.ts';

test('the metrics cover the agent, its callers and the API server, and contain no names of workloads', async () => {
  const metrics = createAgentMetrics('1.2.3');
  metrics.response(200, undefined);
  metrics.response(403, 'WrongUser');
  metrics.response(403, 'WrongUser');
  metrics.request({ verb: 'get', method: 'GET', host: 'a"b\\', code: '200', resource: 'pods', seconds: 0.1 });
  const before = await metrics.render();
  assert.equal(before.contentType, 'text/plain; version=0.0.4; charset=utf-8');
  assert.doesNotMatch(before.body, /edgeset_agent_connected/);
  const backend = createFakeBackend();
  const device = { ...backend.device(), disk: { trouble: null, damage: 'a record was unreadable' } };
  metrics.show({
    backend: {
      ...backend,
      device: () => device,
      troubles: { all: () => [{ part: 'pod', of: 'shop/till', owner: undefined, message: 'till is odd' }] },
    },
    server: { connections: 3, streams: 1 },
    restriction: { unrestricted: true },
  });
  const { body } = await metrics.render();
  for (const line of [
    'edgeset_agent_info{version="1.2.3"} 1',
    'edgeset_agent_connected 1',
    'edgeset_agent_decisions_unkept 0',
    'edgeset_agent_decisions_damaged 1',
    'edgeset_agent_unrestricted 1',
    'edgeset_agent_cache_age_seconds 1.2',
    'edgeset_agent_updates{state="available"} 1',
    'edgeset_agent_updates{state="current"} 1',
    'edgeset_agent_updates{state="failed"} 0',
    'edgeset_agent_updates{state="unknown"} 0',
    'edgeset_agent_not_computable{part="pod"} 1',
    'edgeset_agent_not_computable{part="terms"} 0',
    'edgeset_agent_connections 3',
    'edgeset_agent_event_streams 1',
    'edgeset_agent_answers_total{code="403"} 2',
    'edgeset_agent_refusals_total{reason="WrongUser"} 2',
    'rest_client_requests_total{code="200",method="GET",host="a\\"b\\\\"} 1',
  ])
    assert.ok(body.split('\n').includes(line), `${line}\n${body}`);
  for (const secret of ['till', 'shop', '7d9c', 'example.org']) assert.ok(!body.includes(secret), secret);
  assert.ok(body.endsWith('\n'));
});
