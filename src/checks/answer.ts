// The tree-shakable build of zod, as for kubeconfigs.
import * as z from 'zod/mini';
import { MAX_SAMPLES } from './condition.ts';

// https://prometheus.io/docs/prometheus/latest/querying/api/
const sample = z.tuple([z.number(), z.string()]);
const vector = z.array(z.object({ value: z.optional(sample), histogram: z.optional(z.unknown()) }));
const texts = z.optional(z.array(z.string()));
const answer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('success'),
    data: z.object({ resultType: z.string(), result: z.unknown() }),
    warnings: texts,
  }),
  z.object({ status: z.literal('error'), errorType: z.string(), error: z.string() }),
]);

export type Answer = { ok: true; values: number[]; warnings: readonly string[] } | { ok: false; problem: string };

const bad = (problem: string): Answer => ({ ok: false, problem });

const infinities: Readonly<Record<string, number>> = {
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};
const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;
/** Prometheus writes a number in at most 25 characters. */
const LONGEST_NUMBER = 64;

/** NaN also for what is no number. */
const valueOf = (text: string): number => infinities[text] ?? (NUMBER.test(text) ? Number(text) : Number.NaN);

const samplesOf = (resultType: string, result: unknown): z.infer<typeof sample>[] | string => {
  if (resultType === 'scalar') {
    const scalar = sample.safeParse(result);
    return scalar.success ? [scalar.data] : 'its answer is not that of a Prometheus';
  }
  if (resultType !== 'vector')
    return `the query returns a ${resultType}: write one that returns an instant vector or a scalar`;
  const found = vector.safeParse(result);
  if (!found.success) return 'its answer is not that of a Prometheus';
  if (found.data.some(({ value }) => value === undefined))
    return 'the query returns histograms: reduce them to numbers, as with histogram_quantile';
  return found.data.flatMap(({ value }) => (value ? [value] : []));
};

/** Reads the body of a response of `/api/v1/query`, whatever its HTTP status. Undefined: it is none of Prometheus. */
export const readAnswer = (body: string): Answer | undefined => {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return undefined;
  }
  const parsed = answer.safeParse(json);
  if (!parsed.success) return undefined;
  if (parsed.data.status === 'error') return bad(`${parsed.data.errorType}: ${parsed.data.error}`);
  const { data, warnings = [] } = parsed.data;
  const samples = samplesOf(data.resultType, data.result);
  if (typeof samples === 'string') return bad(samples);
  if (samples.length === 0)
    return bad(`the query returns no sample${warnings.length > 0 ? `, and warns: ${warnings.join('; ')}` : ''}`);
  if (samples.length > MAX_SAMPLES)
    return bad(`the query returns ${samples.length} samples: aggregate them to at most ${MAX_SAMPLES}`);
  const long = samples.find(([, text]) => text.length > LONGEST_NUMBER);
  if (long)
    return bad(
      `the query returns a value of ${long[1].length} characters, which is no number: check what the address leads to`,
    );
  const values = samples.map(([, text]) => valueOf(text));
  if (values.some(Number.isNaN)) return bad('the query returns NaN, as of a division by zero');
  return { ok: true, values, warnings };
};
