import type { Logger } from '../runtime/index.ts';
import { type BindAddress, sameAddress } from './address.ts';
import type { Health } from './health.ts';
import { type Routes, type RunningServer, startHttpServer } from './http-server.ts';

export interface EndpointOptions {
  metrics: BindAddress | undefined;
  health: BindAddress | undefined;
}

/** What a scrape is answered with: Prometheus' text format and the media type that announces it. */
export interface MetricsPage {
  render(): Promise<{ contentType: string; body: string }>;
}

/**
 * Serves /metrics, /healthz and /readyz where the options say, on one socket when both addresses are the same. Logs
 * the bound addresses. Rejects with a `ListenError`, and then serves nothing.
 */
export const startEndpoints = async (
  log: Logger,
  options: EndpointOptions,
  parts: { metrics: MetricsPage; health: Health },
): Promise<{ close(): Promise<void> }> => {
  const metricsRoutes: Routes = {
    '/metrics': async () => ({ status: 200, ...(await parts.metrics.render()) }),
  };
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
