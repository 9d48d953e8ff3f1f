import { EventEmitter } from 'node:events';
import { runManagerProcess } from '../../manager/index.ts';
import type { Env } from '../../runtime/index.ts';
import { version } from '../version.ts';

export interface DemoManager {
  /** Settles when it has ended, by itself or by `stop`. */
  ended: Promise<unknown>;
  stop(): Promise<void>;
  /** The last lines of its log. */
  log(): readonly string[];
}

export type StartManager = (kubeconfig: string, env: Env) => DemoManager;

const LINES_KEPT = 200;

/**
 * The manager as `edgeset manager` runs it, against a kubeconfig over HTTP. In this process for one reason: it must live
 * in the cluster's time, which passes faster than the machine's. It leads without a Lease, for there is no other.
 */
export const startManager: StartManager = (kubeconfig, env) => {
  const host = new EventEmitter();
  const lines: string[] = [];
  const flags = { kubeconfig, leaderElect: 'false', metricsBindAddress: '0', healthProbeBindAddress: '0' };
  const ended = runManagerProcess(flags, {
    version,
    clock: env.clock,
    random: env.random,
    terminal: true,
    environment: {},
    stderr(text) {
      lines.push(text.trimEnd());
      if (lines.length > LINES_KEPT) lines.shift();
    },
    process: {
      // Losing a rejection or an exception is the business of the process as a whole.
      on: (event, handler) => (event.startsWith('SIG') ? host.on(event, handler) : host),
      off: (event, handler) => host.off(event, handler),
      exit: () => undefined,
    },
  });
  return {
    ended,
    async stop() {
      host.emit('SIGTERM', 'SIGTERM');
      await ended;
    },
    log: () => lines,
  };
};
