import { AssertionError } from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { AuditRecord } from '../conformance/index.ts';
import { assertInvariants } from '../judge/audit/assert-invariants.ts';
import { inOrder } from '../judge/audit/records.ts';
import { checkedDaemonSets, groupOf } from './daemonsets.ts';
import { completeHistory } from './history.ts';
import type { ChaosContext } from './operations.ts';
import { type SetName, setNames } from './plan.ts';
import { measureProgress, type Progress } from './progress.ts';
import { WATCHER } from './watcher.ts';

/** The value of the DaemonSets' annotation. */
const SETTLE_MS = 1_000;

/** Log messages that managers may write while everything around them fails. */
const EXPECTED =
  /"msg":"(watch failed|failed to (acquire|renew|release) the lease|leadership lost|lost leadership|processing failed|failed to write the status( conditions of the DaemonSet)?|(?:lost )?the response to a write|dropped an Event|a watch is down|failed to release pods that no longer match|the DaemonSet's pods cannot be listed)|"msg":"(cannot reach https:\S+: check that|https:\S+ refused the credentials)/;

export interface CheckResult {
  problems: string[];
  progress: Record<SetName, Progress>;
  checked: ReadonlyMap<string, number>;
  failovers: number;
  records: number;
  /** Writes that only the watcher observed. */
  observedOnly: number;
  /** Effects of calls whose response was lost. */
  attributed: number;
  /** Writes everything that was checked to a file, for people who investigate a failure: no run can be repeated. */
  file: (problems: readonly string[]) => Promise<string>;
}

/** The violations that an assertion found. */
const problemsIn = (error: unknown): string[] =>
  error instanceof AssertionError && Array.isArray(error.actual) ? error.actual.map(String) : [String(error)];

const holders = (records: readonly AuditRecord[], namespace: string): string[] =>
  records
    .filter((record) => record.resource === 'leases' && record.namespace === namespace)
    .map(({ response }) => (response as Lease).spec?.holderIdentity ?? '')
    .filter((holder) => holder !== '');

/** Checks everything that the managers did against the invariants. */
export const checkRun = async (
  { cluster, nodes, pair, watcher }: ChaosContext,
  namespace: string,
): Promise<CheckResult> => {
  const [manager] = pair.managers;
  if (!manager) throw new Error('there was no manager');
  const product = (user: string): boolean => user === manager.user;
  const log = await cluster.audit.read();
  const records = completeHistory(log, watcher.observations, product);
  const ordered = inOrder(records);
  const logs = await Promise.all(pair.managers.map((each) => each.log()));
  const checked = new Map<string, number>();
  const problems: string[] = [];
  try {
    assertInvariants({
      records,
      namespace,
      daemonSets: checkedDaemonSets,
      nodes: new Set(nodes),
      user: manager.user,
      logs,
      settleMs: SETTLE_MS,
      expected: EXPECTED,
      // An API server that has just started refuses every call until it has read the roles.
      refusals: true,
      lagMs: pair.lagOf,
      heldBackMs: pair.heldBackMs,
      checked: (rule) => checked.set(rule, (checked.get(rule) ?? 0) + 1),
    });
  } catch (error) {
    problems.push(...problemsIn(error));
  }
  const led = holders(ordered, namespace);
  const progress = Object.fromEntries(
    setNames.map((set) => [set, measureProgress(ordered, { namespace, daemonSet: set, group: groupOf(set), product })]),
  ) as Record<SetName, Progress>;
  return {
    problems,
    progress,
    checked,
    failovers: led.filter((holder, index) => index > 0 && holder !== led[index - 1]).length,
    records: records.length,
    observedOnly: ordered.filter(({ user }) => user === WATCHER).length,
    attributed: records.length - log.length - records.filter(({ user }) => user === WATCHER).length,
    async file(found) {
      const path = join(await mkdtemp(join(tmpdir(), 'edgeset-chaos-')), 'history.json');
      const absences = pair.absences();
      await writeFile(path, JSON.stringify({ namespace, problems: found, absences, logs, records: ordered }));
      return path;
    },
  };
};
