import type { Outgoing, OutgoingResult } from '../http/index.ts';
import { isKubeError, type KubeClient } from '../kube/index.ts';
import type { PrometheusCheck } from '../words/index.ts';
import { type AddressRules, chooseAddress, shownAddress } from './address.ts';
import { type Answer, readAnswer } from './answer.ts';
import { compileCondition } from './condition.ts';
import { fillInQuery } from './placeholders.ts';
import { readSecrets, SecretError } from './secrets.ts';
import { type CheckSubject, type Evaluation, sayProblem } from './types.ts';

export interface PrometheusOptions extends AddressRules {
  client: KubeClient;
  send: Outgoing;
  /** Of one request. */
  timeoutMs: number;
}

const MAX_BYTES = 2 ** 20;
const SHOWN_VALUES = 8;

const none = (message: string): Evaluation => ({ kind: 'none', message });

/** Values and queries are for people: the query may be long, and is the last thing to be cut off. */
const shown = (values: readonly number[]): string =>
  values.length > SHOWN_VALUES
    ? `${values.slice(0, SHOWN_VALUES).join(', ')} and ${values.length - SHOWN_VALUES} more`
    : values.join(', ');

const answerOf = (result: OutgoingResult): Answer => {
  const bad = (problem: string): Answer => ({ ok: false, problem });
  if (result.kind === 'failed')
    return bad(
      result.untrusted
        ? `${result.why}; set tls.caSecretName if the authority of its certificate is your own`
        : result.why,
    );
  const { status, body, incomplete } = result;
  if (status >= 300 && status < 400)
    return bad(`HTTP ${status}: redirects are not followed; set the address that it leads to`);
  const said = incomplete === undefined ? readAnswer(body) : undefined;
  if (said && (!said.ok || status === 200)) return said;
  if (status === 401 || status === 403)
    return bad(`HTTP ${status}: set prometheus.credentials to those that it accepts`);
  if (status !== 200) return bad(`HTTP ${status}: set the address of a Prometheus`);
  return bad(incomplete ?? 'its answer is not that of a Prometheus');
};

/** Asks a Prometheus once. Never rejects, unless the signal aborts. */
export const createPrometheus = ({ client, send, timeoutMs, ...rules }: PrometheusOptions) => {
  /** As Prometheus' own client: POST, because a query may be long, or GET where only that is permitted. */
  const ask = async (
    url: string,
    query: string,
    headers: Readonly<Record<string, string>>,
    tls: Pick<Parameters<Outgoing>[0], 'ca' | 'serverName' | 'insecureSkipVerify'>,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const form = new URLSearchParams({ query, timeout: `${timeoutMs / 1000}s` }).toString();
    const request = { headers, ...tls, maxBytes: () => MAX_BYTES };
    const formHeaders = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    const posted = await send({ ...request, method: 'POST', url, headers: formHeaders, body: form }, signal);
    if (posted.kind === 'response' && (posted.status === 405 || posted.status === 501))
      return answerOf(await send({ ...request, method: 'GET', url: `${url}?${form}` }, signal));
    return answerOf(posted);
  };

  return async (check: PrometheusCheck, subject: CheckSubject, signal: AbortSignal): Promise<Evaluation> => {
    const condition = compileCondition(check.condition);
    if (!condition.ok) return none(`prometheus.condition ${sayProblem(condition)}`);
    const chosen = chooseAddress(check.address, subject.clusterPlan, rules);
    if (!chosen.ok) return none(`prometheus.address "${shownAddress(check.address ?? '')}" ${sayProblem(chosen)}`);
    const { origin, path } = chosen.address;
    const { tls } = check;
    if (tls && !origin.startsWith('https:'))
      return none(
        `prometheus.tls is set, but ${origin} has no TLS: set an address with https, or remove prometheus.tls`,
      );
    const query = fillInQuery(check.query, subject);
    let values: Awaited<ReturnType<typeof readSecrets>>;
    try {
      values = await readSecrets(client, subject.secretNamespace, check, { signal });
    } catch (error) {
      if (error instanceof SecretError) return none(error.message);
      if (isKubeError(error)) return none(`cannot read the Secrets of the check: ${error.message}`);
      throw error;
    }
    const { authorization, ca } = values;
    const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) };
    const { serverName, insecureSkipVerify } = tls ?? {};
    const answer = await ask(
      `${origin}${path}/api/v1/query`,
      query,
      headers,
      { ca, serverName, insecureSkipVerify },
      signal,
    );
    signal.throwIfAborted();
    if (!answer.ok) return none(`${origin}${path}: ${answer.problem}. Query: ${query}`);
    const said = condition.evaluate(answer.values);
    if ('problem' in said)
      return none(
        `${check.condition} cannot be evaluated for ${shown(answer.values)}: ${said.problem}. Query: ${query}`,
      );
    const warnings = answer.warnings.length > 0 ? ` Warnings: ${answer.warnings.join('; ')}.` : '';
    return {
      kind: said.value ? 'holds' : 'fails',
      message: `${check.condition} is ${String(said.value)} for ${shown(answer.values)}.${warnings} Query: ${query}`,
    };
  };
};
