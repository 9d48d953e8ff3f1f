import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, eventually } from '../../../test/support/index.ts';
import { type KubeClient, pods, type WatchEvent } from '../../kube/index.ts';
import { createDashboardMetrics } from './metrics.ts';

const linesOf = async (metrics: ReturnType<typeof createDashboardMetrics>): Promise<string[]> =>
  (await metrics.render()).body.split('\n').filter((line) => !line.startsWith('#') && line !== '');

/** A client whose watches deliver what they are told, until they end. */
const fakeClient = () => {
  const pending: ((event: WatchEvent<never> | undefined) => void)[] = [];
  const events = async function* (): AsyncGenerator<WatchEvent<never>> {
    for (;;) {
      const event = await new Promise<WatchEvent<never> | undefined>((resolve) => pending.push(resolve));
      if (!event) return;
      yield event;
    }
  };
  const client = { watch: () => events() } as unknown as KubeClient;
  return { client, deliver: (event: WatchEvent<never> | undefined) => pending.shift()?.(event), pending };
};

const bookmark: WatchEvent<never> = { type: 'BOOKMARK', resourceVersion: '1', initialEventsEnd: false };

describe('the metrics of the dashboard in the cluster', () => {
  it('count responses by code, and show who looks', async () => {
    const metrics = createDashboardMetrics('1.2.3', createTestClock());
    for (const status of [200, 200, 401]) metrics.responded(status);
    metrics.requested({ code: '200' });
    assert.deepEqual(
      (await linesOf(metrics)).filter((line) => /viewers|sessions|last_read/.test(line)),
      [],
      'nothing is known yet',
    );
    metrics.show({ server: { viewers: 3 }, sessions: { size: 2 } });
    const lines = await linesOf(metrics);
    for (const line of [
      'edgeset_dashboard_info{version="1.2.3"} 1',
      'edgeset_dashboard_viewers 3',
      'edgeset_dashboard_sessions 2',
      'edgeset_dashboard_requests_total{code="200"} 2',
      'edgeset_dashboard_requests_total{code="401"} 1',
      'edgeset_dashboard_api_requests_total{code="200"} 1',
      'edgeset_dashboard_watches 0',
    ])
      assert.ok(lines.includes(line), `${line}\n${lines.join('\n')}`);
    assert.ok(lines.some((line) => /^process_resident_memory_bytes \d+$/.test(line)));
  });

  it('count open watches, and say when one last delivered something', async () => {
    const clock = createTestClock();
    const metrics = createDashboardMetrics('1.2.3', clock);
    const { client, deliver, pending } = fakeClient();
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const _ of metrics.counting(client).watch(pods)) if (stop.signal.aborted) return;
    };
    const [ends, leaves] = [follow(), follow()];
    await eventually('both watch', () => pending.length === 2);
    assert.ok((await linesOf(metrics)).includes('edgeset_dashboard_watches 2'));
    await clock.advance(5_000);
    const readAt = clock.now() / 1_000;
    deliver(bookmark);
    await eventually('it has been read', async () =>
      (await linesOf(metrics)).includes(`edgeset_dashboard_last_read_timestamp_seconds ${readAt}`),
    );
    stop.abort();
    deliver(bookmark);
    deliver(undefined);
    await Promise.race([ends, leaves]);
    deliver(bookmark);
    await Promise.all([ends, leaves]);
    assert.ok((await linesOf(metrics)).includes('edgeset_dashboard_watches 0'));
  });
});
