import type { TokenReview, UserInfo } from 'kubernetes-types/authentication/v1.d.ts';
import type { ResourceAttributes, SubjectAccessReview } from 'kubernetes-types/authorization/v1.d.ts';
import { defineResource, type KubeClient } from '../../kube/index.ts';

export type { ResourceAttributes, UserInfo };

const tokenReviews = defineResource<TokenReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
});
const accessReviews = defineResource<SubjectAccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** A page is waiting, and asks again. */
const REVIEW = { timeoutMs: 10_000 };

/** What the API server says about tokens and rights. Rejects when it does not answer. */
export interface Reviews {
  /** Undefined for a token that the API server does not accept. */
  userOf(token: string): Promise<UserInfo | undefined>;
  isAllowed(user: UserInfo, attributes: ResourceAttributes): Promise<boolean>;
}

/** Without an subscribers, a token is valid if it is one for the API server itself. */
export const createReviews = (client: Pick<KubeClient, 'create'>): Reviews => ({
  async userOf(token) {
    const { status } = await client.create(tokenReviews, { spec: { token } }, REVIEW);
    return status?.authenticated === true && status.user?.username ? status.user : undefined;
  },
  async isAllowed({ username = '', groups = [], uid, extra }, resourceAttributes) {
    const spec = {
      user: username,
      groups,
      ...(uid !== undefined && { uid }),
      ...(extra && { extra }),
      resourceAttributes,
    };
    const { status } = await client.create(accessReviews, { spec }, REVIEW);
    return status?.allowed === true && status.denied !== true;
  },
});
