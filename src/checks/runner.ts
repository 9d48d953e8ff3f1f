import { createOutgoing, type Outgoing } from '../http/index.ts';
import { createSeatQueue, type KubeClient } from '../kube/index.ts';
import { formatPolicyError, shorten } from '../rollout/index.ts';
import { type Clock, type Logger, sleep, untilAborted } from '../runtime/index.ts';
import type { PlanCheck, PrometheusCheck } from '../words/index.ts';
import type { AddressRules } from './address.ts';
import { createAnalysis } from './analysis.ts';
import { checkProblems, timesOf } from './problems.ts';
import { createPrometheus } from './prometheus.ts';
import type { CheckResult, CheckRunner, CheckSubject, Evaluation } from './types.ts';

export interface CheckRunnerOptions extends Partial<AddressRules> {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Default: none. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Of one request to a Prometheus. Default 10 s. */
  timeoutMs?: number;
  /** Default: over the network. */
  send?: Outgoing;
}

/** Characters of a result's message. */
export const MAX_MESSAGE = 512;

const TIMEOUT_MS = 10_000;
/** Queries at the same time: one namespace, whose Prometheus may hang, can't keep others from being asked. */
const SEATS = { total: 16, perGroup: 4, slowMs: 1_000 };
/** Without a result, a check is repeated after this time, if its interval is longer: it holds the stage. */
const RETRY_MS = 30_000;

const unexpected = (error: unknown): string =>
  `the check failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`;

/** Waits, but not beyond the signal. */
const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  sleep(clock, ms, signal).catch(() => undefined);

export const createCheckRunner = (options: CheckRunnerOptions): CheckRunner => {
  const { client, clock, log, environment = {}, timeoutMs = TIMEOUT_MS } = options;
  const { prometheusAddress, allowedAddresses = [] } = options;
  const { send = createOutgoing({ clock, environment, timeoutMs }) } = options;
  const askPrometheus = createPrometheus({ client, send, timeoutMs, prometheusAddress, allowedAddresses });
  const analyze = createAnalysis({ client, clock });
  const seats = createSeatQueue({ clock, ...SEATS });

  /** An error that nobody foresaw is no result. */
  const guarded = async (what: () => Promise<Evaluation>, signal: AbortSignal): Promise<Evaluation> => {
    try {
      return await what();
    } catch (error) {
      if (!signal.aborted) log.error('a check failed unexpectedly', { error });
      return { kind: 'none', message: unexpected(error) };
    }
  };

  /** Evaluates at the begin of the soak, after its delay, and then once in every interval until it has failed. */
  const runPrometheus = async (
    check: PrometheusCheck,
    subject: CheckSubject,
    from: number,
    counted: number,
    changed: (result: CheckResult) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    const { intervalMs = 0, initialDelayMs = 0 } = timesOf(check);
    const { failureLimit = 0 } = check;
    let failures = counted;
    if (failures > failureLimit) {
      const message = `${failures} evaluations have failed, more than failureLimit (${failureLimit}) lets be`;
      changed({ state: 'Failed', failures, at: clock.now(), message });
      return;
    }
    const waits = from + initialDelayMs - clock.now();
    if (waits > 0) {
      const message = `first evaluated ${check.initialDelay ?? ''} after the begin of the soak`;
      changed({ state: 'Pending', failures, at: 0, message });
      await pause(clock, waits, signal);
    }
    while (!signal.aborted) {
      const startedAt = clock.now();
      const leave = await seats.acquire(subject.namespace, signal).catch(() => undefined);
      if (!leave) return;
      const { kind, message } = await guarded(() => askPrometheus(check, subject, signal), signal);
      leave();
      if (signal.aborted) return;
      if (kind === 'fails') failures += 1;
      const isFailed = failures > failureLimit;
      const state = kind === 'none' ? 'NoResult' : kind === 'holds' ? 'Passing' : isFailed ? 'Failed' : 'Failing';
      changed({ state, failures, at: clock.now(), message });
      if (state === 'Failed') return;
      const next = startedAt + (kind === 'none' ? Math.min(intervalMs, RETRY_MS) : intervalMs);
      await pause(clock, Math.max(0, next - clock.now()), signal);
    }
  };

  const runCheck = async (
    check: PlanCheck,
    subject: CheckSubject,
    from: number,
    failures: number,
    changed: (result: CheckResult) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    const { name, prometheus, analysis } = check;
    const [problem] = checkProblems(check);
    if (problem) changed({ state: 'NoResult', failures, at: clock.now(), message: formatPolicyError(problem) });
    else if (prometheus) await runPrometheus(prometheus, subject, from, failures, changed, signal);
    else if (analysis) await analyze({ name, check: analysis, subject, from, failures, changed, signal });
  };

  return {
    async run(check, subject, from, failures, report, signal) {
      const changed = (result: CheckResult): void =>
        report({ ...result, message: shorten(result.message, MAX_MESSAGE) });
      try {
        await runCheck(check, subject, from, failures, changed, signal);
      } catch (error) {
        log.error('a check failed unexpectedly', { error });
        changed({ state: 'NoResult', failures, at: clock.now(), message: unexpected(error) });
      }
      // What is final stays so.
      await untilAborted(signal);
    },
  };
};
