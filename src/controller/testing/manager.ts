import { nativeKind } from '../../kinds/native/index.ts';
import { type Env, type Logger, silentLogger } from '../../runtime/index.ts';
import { type ControllerOptions, createController, type Notifier } from '../index.ts';
import type { TestCluster } from './cluster.ts';
import { createTestRecorder } from './fixtures.ts';

const countingLogger = () => {
  const lines: string[] = [];
  const story: string[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (message, fields = {}) =>
      void story.push([message, ...Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`)].join(' ')),
    warn: (message) => void lines.push(message),
    error: (message) => void lines.push(`error: ${message}`),
    with: () => log,
  };
  return { log, lines, story };
};

/** One process that runs the native controller in a cluster. */
export const startManager = (
  cluster: TestCluster,
  identity = 'm1',
  notifier?: Notifier,
  checks?: ControllerOptions['checks'],
) => {
  const { recorder, recorded, reasons } = createTestRecorder();
  const { log, lines, story } = countingLogger();
  const env: Env = { clock: cluster.clock, random: () => 0.5, log };
  let reconciled = (): void => undefined;
  const controller = createController(nativeKind, {
    client: cluster.api.client,
    env,
    events: recorder,
    identity,
    notifier,
    checks,
    metrics: { queue: { worked: () => reconciled() } },
  });
  const caches = new AbortController();
  const caching = controller.run(caches.signal);
  let term: { end: AbortController; done: Promise<void> } | undefined;
  return {
    controller,
    recorded,
    reasons,
    /** Warnings and errors in the log. */
    lines,
    /** What else it says by default. */
    story,
    /** Called after each reconcile. */
    onReconcile(call: () => void): void {
      reconciled = call;
    },
    lead(): void {
      const end = new AbortController();
      term = { end, done: controller.lead(end.signal) };
    },
    /** Loses leadership. Resolves once it has stopped leading, which takes virtual time if writes are in flight. */
    resign(): Promise<void> {
      term?.end.abort(new Error('the lease is lost'));
      return term?.done ?? Promise.resolve();
    },
    async stop(): Promise<void> {
      const resigned = this.resign();
      caches.abort(new Error('stopped'));
      await cluster.clock.advance(1_000);
      await Promise.all([resigned, caching]);
    },
  };
};
export type TestManager = ReturnType<typeof startManager>;
