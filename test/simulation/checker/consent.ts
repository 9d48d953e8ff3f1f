import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../network/call.ts';
import type { Answer, Request } from '../processes/agent.ts';
import type { ClusterState, PodState } from './cluster-state.ts';
import type { Report } from './report.ts';
import type { AnyDaemonSet } from './terms.ts';

export interface ConsentOptions {
  report: Report;
  actual: ClusterState;
  /** True time, epoch ms. */
  now: () => number;
  /** A process's own time. */
  clockOf: (process: string) => number;
}

/** What an owner asked for: it allows one update of one pod, to one revision. */
interface Consent {
  at: number;
  node: string;
  process: string;
  /** The pod that was named; undefined: the one that is there. */
  podUid: string | undefined;
  /** The revision that was named; undefined: the one that the pod speaks of. */
  revision: string | undefined;
  /** It holds while it is asked: an answer ends it, and so does the end of the process. */
  atOnce: boolean;
  answeredAt: number | undefined;
  /** From when on it allows nothing more. */
  voidAt: number | undefined;
  used: boolean;
}

/** What a pod says, as far as owners are concerned. */
interface Said {
  node: string;
  /** Is its owner offered `revision`? */
  offered: boolean;
  reason: string;
  revision: string;
  /** The revision that its owner agreed to, by the condition that agents write. */
  approved: string | undefined;
  /** Its gate is shut: containers are being changed. */
  shut: boolean;
  /** When it first spoke of each revision. */
  since: Map<string, number>;
}

const UPGRADE = /^\/openyurt\.io\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/upgrade(\?queue=true)?$/;
const DECISION = /^\/edgeset\.io\/v1\/updates\/[^/]+\/[^/]+\/decision$/;
const DEADLINE = 'edgeset.io/ota-deadline';
const STRATEGY = 'apps.openyurt.io/update-strategy';
/** By less than this clocks may differ without anybody's noticing: a deadline may pass so much early where they do. Ms. */
const CLOCKS_MS = 60_000;
const OUTCOME_UNKNOWN = 504;
/** What was asked so long ago and not answered was lost with the process that was asked. Ms. */
const UNDER_WAY_MS = 60_000;
const isAgreed = (status: number): boolean => status >= 200 && status < 300;

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);
const hashIn = (message: string | undefined): string => /controllerrevision: *([^;\s]+)/.exec(message ?? '')?.[1] ?? '';

const isOta = (daemonSet: AnyDaemonSet | undefined): boolean =>
  daemonSet?.metadata?.annotations?.[STRATEGY]?.toLowerCase() === 'ota';
const deadlineOf = (daemonSet: AnyDaemonSet | undefined): number =>
  Date.parse(daemonSet?.metadata?.annotations?.[DEADLINE] ?? '');

const versionOf = ({ metadata }: AnyDaemonSet): string => `${metadata?.uid} ${metadata?.generation}`;

/** What a call says to a pod in its owner's name: the revision that is agreed to. */
const approvalIn = (body: unknown): string | undefined => {
  const approval = conditionOf(body as Pod, 'UpgradeApproved');
  return approval?.status === 'True' ? hashIn(approval.message) : undefined;
};

/**
 * S12: follows what the owners of nodes were seen to ask, and holds every act on a pod whose owner decides against it.
 * Agents act on native DaemonSets; on Advanced ones they hand on what was decided, and managers act.
 */
export const createConsentCheck = ({ report, actual, now, clockOf }: ConsentOptions) => {
  const { violation, check } = report;
  const said = new Map<string, Said>();
  let consents: Consent[] = [];
  /** The DaemonSet as each agent read it last. */
  const told = new Map<string, AnyDaemonSet>();
  /** Approvals that no act has been carried out with, by pod. */
  const fresh = new Map<string, string>();
  /** What was begun on a pod with an approval. */
  const begun = new Map<string, string>();
  const willing = new Set<string>();
  /** The revision that pods get of the DaemonSet as it was at a generation, once that is on record. */
  const revisions = new Map<string, string>();

  const isNative = (): boolean => actual.daemonSet?.apiVersion === 'apps/v1';

  const allows = (consent: Consent, pod: PodState, revision: string, leftAt: number): boolean => {
    const { podUid, answeredAt, voidAt } = consent;
    if (consent.used || consent.node !== pod.node || consent.at > leftAt) return false;
    if (voidAt !== undefined && voidAt < leftAt) return false;
    if (podUid !== undefined && podUid !== pod.uid) return false;
    if (consent.revision !== undefined) return consent.revision === revision;
    // What waits is for what the pod spoke of when it was asked for.
    const since = said.get(pod.uid)?.since.get(revision) ?? Number.POSITIVE_INFINITY;
    return consent.atOnce || since <= (answeredAt ?? leftAt);
  };
  const use = (pod: PodState, revision: string, leftAt: number): void => {
    for (const consent of consents) if (allows(consent, pod, revision, leftAt)) consent.used = true;
    consents = consents.filter(({ used }) => !used);
  };

  /** What new pods would be of, by what the process was told last. */
  const wantedBy = (process: string): string | undefined => {
    const daemonSet = told.get(process);
    return daemonSet && revisions.get(versionOf(daemonSet));
  };
  /** The administrator's deadline has passed, by what the process was told of it. */
  const isDue = (process: string): boolean => {
    const apart = Math.min(CLOCKS_MS, Math.abs(clockOf(process) - now()));
    const daemonSet = told.get(process);
    return isOta(daemonSet) && deadlineOf(daemonSet) <= now() + apart;
  };

  /** An agent takes a pod of a native DaemonSet away. */
  const takeAway = (call: Call, pod: PodState, what: string): (() => void) => {
    check('S12');
    const found: [invariant: string, text: string][] = [];
    const { preconditions = {} } = (call.options ?? {}) as {
      preconditions?: { uid?: string; resourceVersion?: string };
    };
    if (preconditions.uid === undefined || preconditions.resourceVersion === undefined)
      found.push(['S5', `${what} without preconditions`]);
    if (pod.hash === wantedBy(call.process)) found.push(['S5', `${what}, one of the target`]);
    const { offered = false, reason = 'nothing', revision = '' } = said.get(pod.uid) ?? {};
    if (!offered) found.push(['S12', `${what}, which is offered nothing: ${reason}`]);
    const wanted = wantedBy(call.process);
    if (wanted !== revision)
      found.push(['S12', `${what} for ${revision}, which it was told is replaced by one of ${wanted ?? 'no record'}`]);
    const valid = consents.filter(
      (each) => allows(each, pod, revision, call.at) && (!each.atOnce || each.process === call.process),
    );
    if (valid.length === 0 && !isDue(call.process))
      found.push(['S12', `${what} for ${revision} without its owner's decision`]);
    return () => {
      for (const [invariant, text] of found) violation(invariant, text);
      use(pod, revision, call.at);
    };
  };

  /** An agent says that the owner agreed. Of native DaemonSets nobody acts on it. */
  const approve = (call: Call, pod: PodState, revision: string, what: string): (() => void) | undefined => {
    if (isNative()) return undefined;
    check('S12');
    const isKept = fresh.get(pod.uid) === revision;
    const isAllowed = isKept || isDue(call.process) || consents.some((each) => allows(each, pod, revision, call.at));
    return () => {
      if (!isAllowed) violation('S12', `${what} for ${revision} without its owner's decision`);
      fresh.set(pod.uid, revision);
    };
  };

  return {
    /** To be called with every commit, after it was applied to the actual. */
    commit({ type, resource, object }: Change): void {
      if (actual.daemonSet && actual.target !== undefined) revisions.set(versionOf(actual.daemonSet), actual.target);
      if (resource.plural !== 'pods') return;
      const { uid } = object.metadata;
      if (type === 'DELETED') {
        for (const table of [said, fresh, begun]) table.delete(uid);
        return;
      }
      const pod = object as unknown as Pod;
      const need = conditionOf(pod, 'PodNeedUpgrade');
      const revision = hashIn(need?.message);
      const since = said.get(uid)?.since ?? new Map<string, number>();
      if (revision !== '' && !since.has(revision)) since.set(revision, now());
      const approved = approvalIn(pod);
      if (approved === undefined) fresh.delete(uid);
      said.set(uid, {
        node: pod.spec?.nodeName ?? '',
        offered: need?.status === 'True' && need.reason === 'NewRevision',
        reason: need?.reason ?? 'nothing',
        revision,
        approved,
        shut: conditionOf(pod, 'InPlaceUpdateReady')?.status === 'False',
        since,
      });
    },
    /** An owner's request reaches the agent of his node. Returns what is to hear its answer. */
    asked(node: string, process: string, { method, path, body }: Request): (answer: Answer) => void {
      const upgrade = UPGRADE.exec(path);
      const isDecision = DECISION.test(path);
      if (method !== 'POST' || (!upgrade && !isDecision)) return () => undefined;
      const { revision, decision } = (isDecision ? JSON.parse(body ?? '{}') : {}) as {
        revision?: string;
        decision?: string;
      };
      const at = now();
      const before = [...consents];
      const consent: Consent = {
        at,
        node,
        process,
        podUid: upgrade ? actual.pods.values().find(({ name }) => name === upgrade[1])?.uid : undefined,
        revision,
        atOnce: upgrade !== null && upgrade[2] === undefined,
        answeredAt: undefined,
        voidAt: undefined,
        used: false,
      };
      const isApproval = upgrade !== null || decision === 'approve';
      if (isApproval) consents.push(consent);
      return ({ status }) => {
        consent.answeredAt = now();
        // Asked at once and answered, it is over; what was refused never was. What waits was agreed to, whatever came of the
        // first try.
        const isOver = consent.atOnce
          ? status !== OUTCOME_UNKNOWN || isNative()
          : !isAgreed(status) && status !== OUTCOME_UNKNOWN;
        if (isOver) consent.voidAt = now();
        if (isApproval || !isAgreed(status)) return;
        // He wants something else now.
        for (const each of before) if (each.node === node && each.at <= at) each.voidAt ??= now();
      };
    },
    /** An agent has read a DaemonSet. */
    told(process: string, daemonSet: AnyDaemonSet): void {
      told.set(process, daemonSet);
    },
    /** Whether the owner agrees to whatever he is shown, from now on. */
    will(node: string, agrees: boolean): void {
      if (agrees) willing.add(node);
      else willing.delete(node);
    },
    /** A write of an agent to a pod arrives. Returns what to do once it was carried out; undefined: it is no act. */
    byAgent(call: Call, pod: PodState): (() => void) | undefined {
      const what = `${call.process} ${call.verb}s ${pod.name} on ${pod.node}`;
      if (call.verb === 'delete') return takeAway(call, pod, what);
      const revision = approvalIn(call.body);
      return revision === undefined ? undefined : approve(call, pod, revision, what);
    },
    /** A manager's act on a pod arrives. Returns what to do once it was carried out. */
    byManager(call: Call, pod: PodState, what: string): (() => void) | undefined {
      if (!isOta(actual.daemonSet)) return undefined;
      check('S12');
      const { offered = false, reason = 'nothing', revision = '', shut = false } = said.get(pod.uid) ?? {};
      const before = begun.get(pod.uid);
      const label = (call.body as Pod | undefined)?.metadata?.labels?.['controller-revision-hash'];
      // What was begun is brought to its end: in the same pod, or with a new one when it did not come to its end.
      const isOfTheSame = shut ? (label ?? before) === before : label === undefined && before === revision;
      const isSame = before !== undefined && (call.verb === 'patch' ? isOfTheSame : true);
      const isAgreedTo = offered && fresh.get(pod.uid) === revision && (label ?? revision) === revision;
      return () => {
        if (isNative()) violation('S12', `${what}, whose owner replaces it`);
        else if (!isAgreedTo && !isSame)
          violation('S12', `${what} to ${revision} (${reason}) without its owner's decision`);
        if (!isAgreedTo) return;
        begun.set(pod.uid, revision);
        fresh.delete(pod.uid);
        use(pod, revision, call.at);
      };
    },
    /** Its owner has agreed to the target, and a manager is to act on it. */
    isAgreed(pod: PodState): boolean {
      const { offered = false, revision, approved } = said.get(pod.uid) ?? {};
      return isOta(actual.daemonSet) && !isNative() && offered && revision === actual.target && approved === revision;
    },
    /** L1 where owners decide: a pod that is left as it is waits for its owner, and says so. */
    mayStay(pod: PodState): boolean {
      if (!isOta(actual.daemonSet) || willing.has(pod.node)) return false;
      // Sooner or later a deadline acts in his place.
      if (!Number.isNaN(deadlineOf(actual.daemonSet))) return false;
      const { offered = false, revision = '' } = said.get(pod.uid) ?? {};
      // What he was told is kept is carried out; what he has only just asked may be.
      const isKept = consents.some((each) => {
        const isOpen = each.answeredAt === undefined ? now() - each.at < UNDER_WAY_MS : !each.atOnce;
        return isOpen && allows(each, pod, revision, now());
      });
      return offered && !isKept && revision === actual.target && !pod.terminating && !pod.ended;
    },
    /** A pod of the target says that there is nothing to decide. */
    isTold(pod: PodState): boolean {
      if (!isOta(actual.daemonSet)) return true;
      const { reason, revision } = said.get(pod.uid) ?? {};
      return reason === 'UpToDate' && revision === actual.target;
    },
  };
};
export type ConsentCheck = ReturnType<typeof createConsentCheck>;
