import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DASHBOARD_FLAGS } from '../bin/flags.ts';
import { buildCli } from '../scripts/bundle.ts';
import { openAddress } from '../src/dashboard/testing/index.ts';
import { sleep, steadyClock } from '../src/runtime/index.ts';
import { launchChromium } from '../test/browser/chromium.ts';
import { startDashboard } from '../test/browser/start-dashboard.ts';
import type { Api } from '../test/cluster/api.ts';
import { watchClicks } from './measure/clicks.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { mib } from './measure/figure.ts';
import { peakResidentOf, watchMachine } from './measure/machine.ts';
import { startRealFleet } from './real/fleet.ts';
import { type NativeRelease, native } from './real/workload.ts';

const PAINT_MS = 1_000;
const FRAME_MS = 50;
const HEAP_MIB = 150;
const SERVER_MIB = 150;
const VIEWERS = 50;
/** Of the page: what a reader does again and again. */
const EVERY_MS = 250;
/** Whose clicks take what the browser and the machine take. */
const EMPTY = '<button onclick="this.textContent = Math.random()">0</button>';
/** Some 200 clicks: of 70, the p95 was 28 to 76 ms from one run to the next. */
const CLICKS_MS = 60_000;
/** Of the overview 3, of nodes 1, of one rollout 4; others at the API server come and go meanwhile. */
const WATCHES = 10;
const TIMEOUT_MS = 600_000;
const APP = 'web';

const share = (values: readonly number[], of: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * of))] ?? 0;

/** The watches that are open at the API server. */
const watchesOf = async (api: Pick<Api, 'text'>): Promise<number> => {
  const metrics = await api.text('/metrics');
  const values = metrics.matchAll(/^apiserver_longrunning_requests\{.*verb="WATCH".*\} (\d+)$/gm);
  return [...values].reduce((sum, [, count]) => sum + Number(count), 0);
};

/** Opens the stream of the rollout as often as pages would; resolves with what ends them. */
const openViewers = async (origin: string, entry: string, stream: string): Promise<() => void> => {
  const headers = await openAddress(`${origin}${entry}`);
  const stop = new AbortController();
  const read = async (): Promise<void> => {
    const { body } = await fetch(`${origin}${stream}`, { headers, signal: stop.signal });
    for await (const _ of body ?? []) if (stop.signal.aborted) return;
  };
  for (let viewer = 0; viewer < VIEWERS; viewer += 1) read().catch(() => undefined);
  return () => stop.abort();
};

/** Two cores bring ten pods a second to readiness beside 10,000 nodes: there, the second rollout begins while the first ones start. */
const ALL_READY_UP_TO = 1_000;

const measure = async (nodes: number): Promise<Figure[]> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-dashboard-'));
  await buildCli(folder);
  const fleet = await startRealFleet<NativeRelease>(nodes, native);
  const { kubeconfig, plane } = fleet.cluster;
  const browser = await launchChromium();
  try {
    const manager = await fleet.startManager({ leaderElect: true });
    await fleet.apply(APP, { version: 1, maxUnavailable: '100%', meanStartMs: 1_000 });
    await fleet.whenRolledOut(APP, TIMEOUT_MS, nodes <= ALL_READY_UP_TO ? 'available' : 'scheduled');

    const program = path.join(folder, 'kubectl-edgeset.mjs');
    const before = await watchesOf(plane.api);
    const args = ['--kubeconfig', kubeconfig, '-n', fleet.namespace];
    // As its image starts it.
    const dashboard = await startDashboard(program, args, DASHBOARD_FLAGS);
    const machine = watchMachine();
    const shown = `${fleet.namespace}/ds/${APP}`;
    const endViewers = await openViewers(dashboard.origin, await dashboard.entry(), `/api/rollouts/${shown}`);
    const empty = await browser.newPage();
    await empty.setContent(EMPTY);
    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
    await page.goto(`${dashboard.origin}${await dashboard.entry()}`);
    await page.locator('.live').getByText('live').waitFor({ timeout: TIMEOUT_MS });
    await page.goto(`${dashboard.origin}/#/${shown}`);
    await page.reload();
    await page.locator('.legend').waitFor({ timeout: TIMEOUT_MS });
    const paint = await page.evaluate<number>(
      "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN",
    );
    const whole = await page.evaluate<number>('performance.now()');

    // In 20 waves of three seconds and more: it continues for longer than it is looked at.
    await fleet.apply(APP, { version: 2, maxUnavailable: '5%', meanStartMs: 3_000 });
    const clicks = await watchClicks(page);
    const control = await watchClicks(empty);
    for (const end = performance.now() + CLICKS_MS; performance.now() < end; ) {
      await control.click(empty.getByRole('button'));
      await clicks.click(page.locator('.legend button:not(:disabled)').first());
      await sleep(steadyClock, EVERY_MS);
    }
    const [frames, least, cpu] = [await clicks.frames(), await control.frames(), await clicks.cpuMs()];
    const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
    const server = peakResidentOf(dashboard.pid);
    const watches = (await watchesOf(plane.api)) - before;
    const busy = machine();
    endViewers();
    await dashboard.stop();
    await manager.stop();

    const name = `dashboard N=${nodes}`;
    const slow = share(frames, 0.95);
    return [
      {
        name: `${name}: paint`,
        measured: `first paint ${Math.round(paint)} ms, the fleet drawn ${Math.round(whole)} ms; ${busy}`,
        goal: `<= ${PAINT_MS} ms`,
        met: paint <= PAINT_MS,
      },
      {
        name: `${name}: interaction`,
        measured: `p95 ${slow} ms from a click to its frame, median ${share(frames, 0.5)} ms, of ${frames.length} during a rollout; on an empty page of the same browser: p95 ${share(least, 0.95)} ms, median ${share(least, 0.5)} ms; ${Math.round(cpu / frames.length)} ms of the page's CPU a click, messages included; ${busy}`,
        goal: `p95 <= ${FRAME_MS} ms`,
        met: slow <= FRAME_MS,
      },
      {
        name: `${name}: memory`,
        measured: `page ${mib(heap)} of heap, server at most ${mib(server)} resident, with ${VIEWERS} more viewers`,
        goal: `<= ${HEAP_MIB} MiB and ${SERVER_MIB} MiB`,
        met: heap <= HEAP_MIB * 2 ** 20 && server <= SERVER_MIB * 2 ** 20,
      },
      {
        name: `${name}: watches`,
        measured: `${watches} more at the API server with ${VIEWERS + 1} viewers`,
        goal: `<= ${WATCHES}, however many viewers`,
        met: watches <= WATCHES,
      },
    ];
  } finally {
    await browser.close();
    await fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * What a viewer of the dashboard waits for during a rollout on a real control plane, beside 50 other viewers.
 */
export const dashboard: Benchmark = {
  name: 'dashboard',
  async *run({ quick }) {
    for (const nodes of quick ? [100] : [1_000, 10_000]) yield* await measure(nodes);
  },
};
