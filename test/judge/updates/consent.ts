import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../embedded/index.ts';
import {
  type AnyDaemonSet,
  askedOf,
  type Finding,
  HASH_LABEL,
  hasCondition,
  IN_PLACE_GATE,
  type InvariantId,
  isBoundToPod,
  isNative,
  isOta,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Answer, Request } from '../../simulation/processes/agent.ts';
import type { CheckContext } from '../check.ts';
import { generationKey, type PodState } from '../state/cluster-state.ts';
import { tolerances } from '../tolerances.ts';

/** A request of an owner: it permits one update of one pod to one revision. */
interface Consent {
  at: number;
  node: string;
  process: string;
  /** The pod that the request names; undefined: the present one. */
  podUid: string | undefined;
  /** The revision that the request names; undefined: the one that the pod announces. */
  revision: string | undefined;
  /** It is valid only until it is answered, or its process ends. */
  atOnce: boolean;
  answeredAt: number | undefined;
  /** When it ceased to be valid. */
  voidAt: number | undefined;
  used: boolean;
}

/** What a pod announces to its owner. */
interface Announcement {
  node: string;
  /** Whether its owner may decide on `revision`. */
  offered: boolean;
  reason: string;
  revision: string;
  /** The revision that its owner agreed to, by the condition that agents write. */
  approved: string | undefined;
  /** Its gate is closed: containers are being changed. */
  gateClosed: boolean;
  /** By revision: when it was first announced. */
  since: Map<string, number>;
}

const UPGRADE = /^\/openyurt\.io\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/upgrade(\?queue=true)?$/;
const DECISION = /^\/edgeset\.io\/v1\/updates\/[^/]+\/[^/]+\/decision$/;
const DEADLINE = 'edgeset.io/ota-deadline';
const OUTCOME_UNKNOWN = 504;
const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);
const hashIn = (message: string | undefined): string => /controllerrevision: *([^;\s]+)/.exec(message ?? '')?.[1] ?? '';

const deadlineOf = (daemonSet: AnyDaemonSet | undefined): number =>
  Date.parse(daemonSet?.metadata?.annotations?.[DEADLINE] ?? '');

/** The revision that a call approves in the name of the pod's owner. */
const approvalIn = (body: unknown): string | undefined => {
  const approval = conditionOf(body as Pod, 'UpgradeApproved');
  return approval?.status === 'True' ? hashIn(approval.message) : undefined;
};

/**
 * S12: tracks the requests of owners, and checks every update of a pod whose owner decides against them. Agents update native
 * DaemonSets themselves; for Advanced ones they write the approval, and managers update.
 */
export const createConsentCheck = ({
  report,
  actual,
  now,
  clockOf,
}: Pick<CheckContext, 'report' | 'actual' | 'now' | 'clockOf'>) => {
  const { violation, check } = report;
  const announcements = new Map<string, Announcement>();
  let consents: Consent[] = [];
  /** By agent: the DaemonSet as it last read it. */
  const knownDaemonSets = new Map<string, AnyDaemonSet>();
  /** By pod: approvals that were not used yet. */
  const unused = new Map<string, string>();
  /** By pod: the approved revision of an update that has started. */
  const started = new Map<string, string>();
  /** Nodes whose owners approve everything. */
  const approving = new Set<string>();
  /** By generation of the DaemonSet: the revision that its pods get, once it is recorded. */
  const revisions = new Map<string, string>();

  const isNativeSet = (): boolean => actual.daemonSet !== undefined && isNative(actual.daemonSet);

  const allows = (consent: Consent, pod: PodState, revision: string, leftAt: number): boolean => {
    const { podUid, answeredAt, voidAt } = consent;
    if (consent.used || consent.node !== pod.node || consent.at > leftAt) return false;
    if (voidAt !== undefined && voidAt < leftAt) return false;
    if (podUid !== undefined && podUid !== pod.uid) return false;
    if (consent.revision !== undefined) return consent.revision === revision;
    // A request that waits is for the revision that the pod announced when it was made.
    const since = announcements.get(pod.uid)?.since.get(revision) ?? Number.POSITIVE_INFINITY;
    return consent.atOnce || since <= (answeredAt ?? leftAt);
  };
  const use = (pod: PodState, revision: string, leftAt: number): void => {
    for (const consent of consents) if (allows(consent, pod, revision, leftAt)) consent.used = true;
    consents = consents.filter(({ used }) => !used);
  };

  /** The revision of new pods, by what the process has last read. */
  const targetKnownTo = (process: string): string | undefined => {
    const daemonSet = knownDaemonSets.get(process);
    return daemonSet && revisions.get(generationKey(daemonSet));
  };
  /** The administrator's deadline has passed, by what the process has read. */
  const isDue = (process: string): boolean => {
    const apart = Math.min(tolerances.uncorrectedClock.ms, Math.abs(clockOf(process) - now()));
    const daemonSet = knownDaemonSets.get(process);
    return isOta(daemonSet) && deadlineOf(daemonSet) <= now() + apart;
  };

  /** An agent deletes a pod of a native DaemonSet. */
  const deletePod = (call: Call, pod: PodState, what: string): (() => void) => {
    check('S12');
    const { preconditions = {} } = call.options ?? {};
    const wanted = targetKnownTo(call.process);
    const found: (Finding | undefined)[] = [isBoundToPod(call.options)];
    const add = (invariant: InvariantId, why: string): void => void found.push({ invariant, why });
    if (preconditions.resourceVersion === undefined) add('S5', 'without a resourceVersion precondition');
    if (pod.hash === wanted) add('S5', 'which is of the target revision already');
    const { offered = false, reason = 'nothing', revision = '' } = announcements.get(pod.uid) ?? {};
    if (!offered) add('S12', `although it announces no update: ${reason}`);
    if (wanted !== revision)
      add('S12', `for ${revision}, although the next pod will be of ${wanted ?? 'no known revision'}`);
    const valid = consents.filter(
      (each) => allows(each, pod, revision, call.at) && (!each.atOnce || each.process === call.process),
    );
    if (valid.length === 0 && !isDue(call.process)) add('S12', `for ${revision} without a decision of its owner`);
    return () => {
      for (const each of found) report.finding(each, what);
      use(pod, revision, call.at);
    };
  };

  /** An agent writes its owner's approval. For native DaemonSets it has no effect. */
  const approve = (call: Call, pod: PodState, revision: string, what: string): (() => void) | undefined => {
    if (isNativeSet()) return undefined;
    check('S12');
    const isKept = unused.get(pod.uid) === revision;
    const isAllowed = isKept || isDue(call.process) || consents.some((each) => allows(each, pod, revision, call.at));
    return () => {
      if (!isAllowed) violation('S12', `${what} for ${revision} without a decision of its owner`);
      unused.set(pod.uid, revision);
    };
  };

  return {
    /** Called with every commit, after it was applied to the actual state. */
    onCommit({ type, resource, object }: Change): void {
      if (actual.daemonSet && actual.target !== undefined)
        revisions.set(generationKey(actual.daemonSet), actual.target);
      if (resource.plural !== 'pods') return;
      const { uid } = object.metadata;
      if (type === 'DELETED') {
        for (const table of [announcements, unused, started]) table.delete(uid);
        return;
      }
      const pod = object as unknown as Pod;
      const need = conditionOf(pod, 'PodNeedUpgrade');
      const revision = hashIn(need?.message);
      const since = announcements.get(uid)?.since ?? new Map<string, number>();
      if (revision !== '' && !since.has(revision)) since.set(revision, now());
      const approved = approvalIn(pod);
      if (approved === undefined) unused.delete(uid);
      announcements.set(uid, {
        node: pod.spec?.nodeName ?? '',
        offered: need?.status === 'True' && need.reason === 'NewRevision',
        reason: need?.reason ?? 'nothing',
        revision,
        approved,
        gateClosed: hasCondition(pod, IN_PLACE_GATE, 'False'),
        since,
      });
    },
    /** An owner's request reaches the agent of the node. Returns what to call with the response. */
    onOwnerRequest(node: string, process: string, { method, path, body }: Request): (answer: Answer) => void {
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
        // An immediate request has ended once it is answered, and a refused one never counted. A queued one was accepted, whatever
        // came of the first attempt.
        if (consent.atOnce || (!isSuccess(status) && status !== OUTCOME_UNKNOWN)) consent.voidAt = now();
        if (isApproval || !isSuccess(status)) return;
        // The owner wants something else now.
        for (const each of before) if (each.node === node && each.at <= at) each.voidAt ??= now();
      };
    },
    /** An agent has read a DaemonSet. */
    onDaemonSetRead(process: string, daemonSet: AnyDaemonSet): void {
      knownDaemonSets.set(process, daemonSet);
    },
    /** From now on the owner approves every update that is announced, or none. */
    setAutoApprove(node: string, agrees: boolean): void {
      if (agrees) approving.add(node);
      else approving.delete(node);
    },
    /** The call of an agent updates a pod, or lets a manager update it. */
    isAgentUpdate: ({ verb, resource, body }: Call): boolean =>
      resource?.plural === 'pods' && (verb === 'delete' || (body !== undefined && approvalIn(body) !== undefined)),
    /** A write of an agent to a pod arrives. Returns what to run once it was executed; undefined: it is no update. */
    onAgentWrite(call: Call, pod: PodState): (() => void) | undefined {
      const what = `${call.process} ${call.verb}s ${pod.name} on ${pod.node}`;
      if (call.verb === 'delete') return deletePod(call, pod, what);
      const revision = approvalIn(call.body);
      return revision === undefined ? undefined : approve(call, pod, revision, what);
    },
    /** An update by a manager arrives. Returns what to run once it was executed. */
    onManagerUpdate(call: Call, pod: PodState, what: string): (() => void) | undefined {
      if (!isOta(actual.daemonSet)) return undefined;
      check('S12');
      const {
        offered = false,
        reason = 'nothing',
        revision = '',
        gateClosed = false,
      } = announcements.get(pod.uid) ?? {};
      const before = started.get(pod.uid);
      const label = askedOf(call.body)?.metadata?.labels?.[HASH_LABEL];
      // An update that has begun may finish: in the same pod, or with a new pod if the in-place update failed.
      const isOfTheSame = gateClosed ? (label ?? before) === before : label === undefined && before === revision;
      const isSame = before !== undefined && (call.verb === 'patch' ? isOfTheSame : true);
      const isAgreedTo = offered && unused.get(pod.uid) === revision && (label ?? revision) === revision;
      return () => {
        if (isNativeSet()) violation('S12', `${what}, although its owner replaces it`);
        else if (!isAgreedTo && !isSame)
          violation('S12', `${what} to ${revision} (${reason}) without its owner's decision`);
        if (!isAgreedTo) return;
        started.set(pod.uid, revision);
        unused.delete(pod.uid);
        use(pod, revision, call.at);
      };
    },
    /** Its owner has approved the target, and a manager has to update it. */
    isApproved(pod: PodState): boolean {
      const { offered = false, revision, approved } = announcements.get(pod.uid) ?? {};
      return (
        isOta(actual.daemonSet) && !isNativeSet() && offered && revision === actual.target && approved === revision
      );
    },
    /** L1 where owners decide: a pod that stays outdated waits for its owner, and announces it. */
    mayStay(pod: PodState): boolean {
      if (!isOta(actual.daemonSet) || approving.has(pod.node)) return false;
      // Sooner or later the deadline decides for the owner.
      if (!Number.isNaN(deadlineOf(actual.daemonSet))) return false;
      const { offered = false, revision = '' } = announcements.get(pod.uid) ?? {};
      // A queued request is executed; one that was made just now may be.
      const isKept = consents.some((each) => {
        const isOpen = each.answeredAt === undefined ? now() - each.at < tolerances.ownerRequest.ms : !each.atOnce;
        return isOpen && allows(each, pod, revision, now());
      });
      return offered && !isKept && revision === actual.target && !pod.terminating && !pod.ended;
    },
    /** A pod of the target announces that there is nothing to decide. */
    isReported(pod: PodState): boolean {
      if (!isOta(actual.daemonSet)) return true;
      const { reason, revision } = announcements.get(pod.uid) ?? {};
      return reason === 'UpToDate' && revision === actual.target;
    },
  };
};
export type ConsentCheck = ReturnType<typeof createConsentCheck>;
