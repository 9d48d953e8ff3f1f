import type { Logger } from '../runtime/index.ts';
import { type BindAddress, sameAddress } from './flags.ts';
import { type Answer, type Routes, type RunningServer, startHttpServer, text } from './http-server.ts';

/** Returns why the process is not ready; undefined when it is. */
export type ReadinessCheck = () => string | undefined;

export interface Health {
  /** Adds a check, or replaces the one of the same name. */
  check(name: string, check: ReadinessCheck): void;
  readyz(): Answer;
  /** Always succeeds: when the event loop is blocked, the kubelet's probe times out. */
  healthz(): Answer;
}

export const createHealth = (): Health => {
  const checks = new Map<string, ReadinessCheck>();
  return {
    check(name, check) {
      checks.set(name, check);
    },
    readyz() {
      const results = [...checks].map(([name, check]) => ({ name, missing: check() }));
      const lines = results.map(({ name, missing }) =>
        missing === undefined ? `[+] ${name} ok` : `[-] ${name}: ${missing}`,
      );
      const ready = results.every(({ missing }) => missing === undefined);
      return text(ready ? 200 : 503, [...lines, ready ? 'ready' : 'not ready'].join('\n'));
    },
    healthz: () => text(200, 'ok'),
  };
};

export interface EndpointOptions {
  metrics: BindAddress | undefined;
  health: BindAddress | undefined;
}

/** Renders a scrape in Prometheus' text format, with its content type. */
export interface MetricsPage {
  render(): Promise<{ contentType: string; body: string }>;
}

/**
 * Serves /metrics, /healthz and /readyz on the given addresses, sharing a socket when they are equal. Logs the bound
 * addresses. Rejects with a `ListenError` and then serves nothing.
 */
export const startEndpoints = async (
  log: Logger,
  options: EndpointOptions,
  parts: { health: Health; metrics?: MetricsPage },
): Promise<{ close(): Promise<void> }> => {
  const { metrics: page } = parts;
  const metricsRoutes: Routes = page ? { '/metrics': async () => ({ status: 200, ...(await page.render()) }) } : {};
  const healthRoutes: Routes = { '/healthz': () => parts.health.healthz(), '/readyz': () => parts.health.readyz() };
  const { metrics, health } = options;
  const running: RunningServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(running.map((server) => server.close()));
  };
  const serve = async (address: BindAddress, routes: Routes, flags: string): Promise<string> => {
    const server = await startHttpServer(address, routes, flags);
    running.push(server);
    return server.address;
  };
  const metricsFlag = '--metrics-bind-address';
  const healthFlag = '--health-probe-bind-address';
  try {
    if (metrics && health && sameAddress(metrics, health)) {
      const both = { ...metricsRoutes, ...healthRoutes };
      const address = await serve(metrics, both, `${metricsFlag} and ${healthFlag}`);
      log.info('serving metrics', { address });
      log.info('serving health probes', { address });
      return { close };
    }
    if (metrics) log.info('serving metrics', { address: await serve(metrics, metricsRoutes, metricsFlag) });
    if (health) log.info('serving health probes', { address: await serve(health, healthRoutes, healthFlag) });
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
};
