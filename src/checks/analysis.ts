import { createHash } from 'node:crypto';
import { ifFound, isKubeError, type KubeClient } from '../kube/index.ts';
import { type Clock, sleep } from '../runtime/index.ts';
import { type AnalysisCheck, FIELD_MANAGER } from '../words/index.ts';
import { AnalysisError, analysisSpec, explainRefusal } from './analysis-spec.ts';
import { type AnalysisRun, analysisRuns } from './argo-rollouts.ts';
import type { CheckResult, CheckSubject } from './types.ts';

export interface AnalysisInput {
  /** Of the check. */
  name: string;
  check: AnalysisCheck;
  subject: CheckSubject;
  /** When the soak began: a soak that begins again has its own run. */
  from: number;
  failures: number;
  changed: (result: CheckResult) => void;
  signal: AbortSignal;
}

const POLL_MS = 2000;
/** Templates and rights change seldom. */
const RETRY_MS = 10_000;
/** Runs of one soak: another one after each resume. */
const MAX_ATTEMPTS = 20;

/** The same for every leader. Argo Rollouts puts the name into names of other objects, so it is short. */
const runName = (name: string, { namespace, daemonSet, revision, stage }: CheckSubject, from: number): string => {
  // The next leader reads it in whole milliseconds.
  const key = JSON.stringify([namespace, daemonSet, revision, stage, name, Math.floor(from)]);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 10);
  return `${`${daemonSet}-${name}`.slice(0, 44).replace(/(?<![^a-z0-9])[^a-z0-9]+$/, '')}-${hash}`;
};

/** Whether the run says so itself, or its object is taken for another's. */
const isOurs = ({ metadata }: AnalysisRun, { owner }: CheckSubject): boolean =>
  metadata?.ownerReferences?.some(({ uid }) => uid === owner.uid) ?? false;

/** Argo Rollouts' own words, of the run or of the metric that decided it. */
const reasonOf = ({ status }: AnalysisRun): string => {
  const metric = status?.metricResults?.find(({ phase, message }) => phase === status.phase && message);
  return status?.message || (metric?.message ? `metric "${metric.name}": ${metric.message}` : '');
};

/** Runs an AnalysisRun of Argo Rollouts and follows it to its end. */
export const createAnalysis = ({ client, clock }: { client: KubeClient; clock: Clock }) => {
  const getRun = (name: string, { subject: { namespace }, signal }: AnalysisInput): Promise<AnalysisRun | undefined> =>
    ifFound(client.get(analysisRuns, { namespace, name }, { signal }));

  /** The name of the run of this soak that counts: one that failed, with no failure counted, was forgiven by a resume. */
  const findName = async (base: string, input: AnalysisInput): Promise<string> => {
    for (let attempt = 1; ; attempt += 1) {
      const name = attempt === 1 ? base : `${base}-${attempt}`;
      const isLast = input.failures > 0 || attempt === MAX_ATTEMPTS;
      if (isLast || (await getRun(name, input))?.status?.phase !== 'Failed') return name;
    }
  };

  const createRun = async (name: string, { check, subject, signal }: AnalysisInput): Promise<AnalysisRun> => {
    const { namespace, owner } = subject;
    const spec = await analysisSpec(client, check, subject, signal);
    const metadata = {
      name,
      namespace,
      labels: { 'app.kubernetes.io/managed-by': 'edgeset' },
      ownerReferences: [owner],
    };
    const { group, version, kind } = analysisRuns;
    const run: AnalysisRun = { apiVersion: `${group}/${version}`, kind, metadata, spec };
    try {
      return await client.create(analysisRuns, run, { fieldManager: FIELD_MANAGER, signal });
    } catch (error) {
      // Another attempt of ours, whose response was lost.
      if (isKubeError(error, 'AlreadyExists')) return client.get(analysisRuns, { namespace, name }, { signal });
      return explainRefusal(error, `AnalysisRun ${namespace}/${name}`);
    }
  };

  const resultOf = (name: string, run: AnalysisRun, { subject, failures }: AnalysisInput): CheckResult => {
    const what = `AnalysisRun ${subject.namespace}/${name}`;
    const phase = run.status?.phase ?? '';
    const at = clock.now();
    const reason = reasonOf(run);
    const message = `${what} is ${phase}${reason && `: ${reason}`}`;
    if (!isOurs(run, subject))
      return { state: 'NoResult', failures, at, message: `${what} belongs to somebody else: delete it` };
    if (phase === 'Successful') return { state: 'Passing', failures, at, message };
    if (phase === 'Failed') return { state: 'Failed', failures: Math.max(1, failures), at, message };
    if (phase === 'Error' || phase === 'Inconclusive')
      return { state: 'NoResult', failures, at, message: `${message}; delete it to run it again` };
    const waits = phase === '' ? `${what} waits for the controller of Argo Rollouts` : message;
    return { state: 'Pending', failures, at: 0, message: waits };
  };

  /** Never rejects; resolves when the run has passed or failed, or when the signal aborts. */
  return async (input: AnalysisInput): Promise<void> => {
    const { name: checkName, subject, from, failures, changed, signal } = input;
    const base = runName(checkName, subject, from);
    let name: string | undefined;
    let last = '';
    const tell = (result: CheckResult): void => {
      const said = JSON.stringify([result.state, result.message]);
      if (said !== last) changed(result);
      last = said;
    };
    while (!signal.aborted) {
      let waitMs = POLL_MS;
      try {
        name ??= await findName(base, input);
        const run = (await getRun(name, input)) ?? (await createRun(name, input));
        if (signal.aborted) return;
        const result = resultOf(name, run, input);
        tell(result);
        if (result.state === 'Passing' || result.state === 'Failed') return;
      } catch (error) {
        if (signal.aborted) return;
        const message = error instanceof Error ? error.message : String(error);
        const isKnown = error instanceof AnalysisError || isKubeError(error);
        tell({ state: 'NoResult', failures, at: clock.now(), message: isKnown ? message : `unexpected: ${message}` });
        waitMs = RETRY_MS;
      }
      await sleep(clock, waitMs, signal).catch(() => undefined);
    }
  };
};
