import type { Locator, Page } from 'playwright-core';

/** The browser reports no click whose frame came sooner, and rounds the others to 8 ms. */
const LEAST_MS = 16;

export interface Clicks {
  click(on: Locator): Promise<void>;
  /** Of each click, ms from the event of the pointer until its frame was presented; at least 16. */
  frames(): Promise<number[]>;
  /** CPU that the page's main thread has used since clicks are watched, ms: however busy the machine is, it is the same. */
  cpuMs(): Promise<number>;
}

/** Clicks with the pointer, and asks the browser for the times (Event Timing). Call it when the page is loaded. */
export const watchClicks = async (page: Page): Promise<Clicks> => {
  let count = 0;
  await page.evaluate(`
    const frames = new Map();
    const note = (entries) => {
      for (const { interactionId, duration } of entries)
        if (interactionId > 0) frames.set(interactionId, Math.max(duration, frames.get(interactionId) ?? 0));
    };
    const observer = new PerformanceObserver((list) => note(list.getEntries()));
    observer.observe({ type: 'event', durationThreshold: ${LEAST_MS} });
    window.framesOfClicks = () => {
      note(observer.takeRecords());
      return [...frames.values()];
    };
  `);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busyMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  const before = await busyMs();
  return {
    async click(on) {
      await on.click();
      count += 1;
    },
    async frames() {
      const slow = await page.evaluate<number[]>('framesOfClicks()');
      return [...Array.from({ length: count - slow.length }, () => LEAST_MS), ...slow];
    },
    cpuMs: async () => (await busyMs()) - before,
  };
};
