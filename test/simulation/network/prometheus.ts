import type { Outgoing, OutgoingResult } from '../../../src/http/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { MetricAnswer } from '../plan/plan.ts';
import type { Machine } from '../processes/machine.ts';

const LATENCY_MS = 20;
/** The runner's own: a request that is not answered ends then. */
const TIMEOUT_MS = 10_000;

/** The query of each check of the simulation, which names what it is about. */
export const CHECK_QUERY = 'errors{revision="${revision}",stage="${stage}"}';
/** Each check of the simulation has this condition. */
export const CHECK_CONDITION = 'result.all(r, r < 0.5) && size(result) > 0';
/** A check with this one makes its plan invalid. */
export const UNCOMPILABLE_CONDITION = 'result.all(r, r <';

const response = (result: unknown): OutgoingResult => ({
  kind: 'response',
  status: 200,
  headers: {},
  body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }),
  incomplete: undefined,
});
const failed = (why: string): OutgoingResult => ({ kind: 'failed', why, untrusted: false });
const sample = (value: string): unknown => [{ metric: {}, value: [1, value] }];

const RESULTS: Readonly<Record<MetricAnswer, OutgoingResult>> = {
  good: response(sample('0')),
  bad: response(sample('1')),
  nan: response(sample('NaN')),
  empty: response([]),
  down: failed('connection refused'),
  hangs: failed(`no answer within ${TIMEOUT_MS / 1000} s`),
};

export interface PrometheusObserver {
  /** A process receives the answer to a query. */
  onAnswer(process: string, query: string, answer: MetricAnswer): void;
}

/** The Prometheus that the checks of stages ask: slow, down, empty or wrong as a plan says. */
export const createPrometheus = (time: Clock, observer: PrometheusObserver, onEffect: () => void) => {
  let answer: MetricAnswer = 'good';
  let askedAt = 0;
  return {
    /** When a check was last evaluated: its result is written. */
    askedAt: (): number => askedAt,
    set(next: MetricAnswer): void {
      answer = next;
    },
    senderOf:
      (machine: Machine): Outgoing =>
      ({ body }, signal) =>
        new Promise((resolve) => {
          const given = answer;
          askedAt = time.now();
          if (given !== 'good') onEffect();
          time.timer(given === 'hangs' ? TIMEOUT_MS : LATENCY_MS, () =>
            machine.deliver(() => {
              const query = new URLSearchParams(body).get('query') ?? '';
              if (!signal.aborted) observer.onAnswer(machine.name, query, given);
              resolve(RESULTS[given]);
            }),
          );
        }),
  };
};
export type Prometheus = ReturnType<typeof createPrometheus>;
