import type { Event, Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  defineResource,
  events,
  isKubeError,
  isRefusedByPolicy,
  type KubeClient,
  type KubeObject,
} from '../../kube/index.ts';
import { type Env, errorText } from '../../runtime/index.ts';
import { disconnected, type Refusal, refuse } from './refusal.ts';

interface AccessReview extends KubeObject {
  spec: object;
  status?: { allowed?: boolean };
}

const accessReviews = defineResource<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
});

/** Proves that an admission policy restricts what this agent's credentials may do to pods. */
export interface Restriction {
  /** Undefined if the agent may act on pods of the pod's namespace, which is then not asked for again. */
  check(pod: Pod, call: { timeoutMs: number; signal: AbortSignal }): Promise<Refusal | undefined>;
  /** The API server accepted a forbidden write. */
  readonly unrestricted: boolean;
}

export interface RestrictionOptions {
  client: Pick<KubeClient, 'create'>;
  env: Pick<Env, 'log'>;
}

const CURE =
  'apply deploy/agent/policy.yaml, with the namespace and the name of the service account that this agent has in its match condition';

/** The policy lets agents write Events about DaemonSets only. As a dry run, this one is never stored. */
const forbiddenEvent = (namespace: string, name: string): Event => ({
  metadata: { generateName: 'edgeset-agent-', namespace },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name },
  type: 'Normal',
  reason: 'DryRun',
  message: 'No agent may write this Event.',
});

/**
 * Sends a write that the policy forbids, as a dry run: one that would do no harm even if it were stored. RBAC gives agents rights on all pods of a namespace, so without the
 * policy, or with one that names another service account, stolen credentials of one device could stop the pods of all.
 */
export const createRestriction = ({ client, env }: RestrictionOptions): Restriction => {
  const { log } = env;
  const passed = new Set<string>();
  let unrestricted = false;

  /** Agents may not create pods. Who may, has an administrator's credentials, or the cluster doesn't authorize at all. */
  const isAdministrator = async (namespace: string, call: { timeoutMs: number; signal: AbortSignal }) => {
    const spec = { resourceAttributes: { namespace, verb: 'create', resource: 'pods' } };
    const { status } = await client.create(accessReviews, { spec }, call);
    return status?.allowed === true;
  };

  const accepted = async (
    namespace: string,
    call: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Refusal | undefined> => {
    const wasKnown = unrestricted;
    unrestricted = true;
    if (await isAdministrator(namespace, call)) {
      log.warn("these are an administrator's credentials, which no policy restricts: use them only to try the agent", {
        namespace,
      });
      passed.add(namespace);
      return undefined;
    }
    if (!wasKnown)
      log.error('no admission policy restricts this agent: it updates no pod', { namespace, remedy: CURE });
    const text = 'No pod can be updated: the API server accepts what agents must not do';
    return refuse('Unrestricted', 502, `${text}. Ask an administrator to ${CURE}`);
  };

  return {
    get unrestricted() {
      return unrestricted;
    },
    async check({ metadata }, call) {
      const { namespace = '', name = '' } = metadata ?? {};
      if (passed.has(namespace)) return undefined;
      try {
        await client.create(events, forbiddenEvent(namespace, name), { dryRun: true, ...call });
        return await accepted(namespace, call);
      } catch (error) {
        call.signal.throwIfAborted();
        if (!isKubeError(error)) throw error;
        if (error.code === 'Forbidden' && isRefusedByPolicy(error)) {
          log.info('an admission policy restricts this agent', { namespace });
          passed.add(namespace);
          unrestricted = false;
          return undefined;
        }
        if (error.code === 'Transport' || error.code === 'Timeout') return disconnected();
        log.warn('failed to check that an admission policy restricts this agent', { namespace, error });
        return refuse(
          'Unreadable',
          502,
          `No pod can be updated: whether a policy restricts this agent can't be checked: ${errorText(error)}`,
        );
      }
    },
  };
};
