import { toTime } from '../../resources.ts';
import { methodNotAllowed } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { at, type Json, textOf } from '../json.ts';
import type { User } from '../storage/tokens.ts';
import { readObject } from './body.ts';
import { json, type Request, type Response } from './exchange.ts';
import type { Route } from './route.ts';

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

const userInfo = ({ name, groups }: User): Json => ({ username: name, groups });

interface Review {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly answer: (body: Json, request: Request, state: ServerState) => Json;
}

const review = (group: string, kind: string, answer: Review['answer']): Review => ({
  group: `${group}.k8s.io`,
  plural: `${kind.toLowerCase()}s`,
  kind,
  answer,
});

const allowed = (): Json => ({ status: { allowed: true, reason: 'every known user may do everything' } });

/** All reviews, in discovery order. */
export const reviews: readonly Review[] = [
  review('authentication', 'SelfSubjectReview', (_, request, state) => ({
    metadata: { creationTimestamp: toTime(state.clock.now()) },
    status: { userInfo: userInfo(request.user) },
  })),
  review('authentication', 'TokenReview', ({ spec }, _, state) => {
    const user = state.tokens.find(textOf(at(spec, 'token')), state.clock.now());
    return { status: user ? { authenticated: true, user: userInfo(user) } : { error: 'the token is not known' } };
  }),
  review('authorization', 'SelfSubjectAccessReview', allowed),
  review('authorization', 'SelfSubjectRulesReview', () => ({ status: EVERYTHING })),
  review('authorization', 'SubjectAccessReview', allowed),
];

const reviewOf = (route: Route): Review | undefined =>
  reviews.find(({ group, plural }) => group === route.group && plural === route.plural);

export const isReview = (route: Route): boolean =>
  route.version === 'v1' && route.name === undefined && reviewOf(route) !== undefined;

/** Answers a review. */
export const serveReview = async (state: ServerState, route: Route, request: Request): Promise<Response> => {
  const found = reviewOf(route);
  if (!found || request.method !== 'POST') throw methodNotAllowed();
  const body = await readObject(request);
  const { kind, answer } = found;
  return json({ ...body, kind, apiVersion: `${route.group}/v1`, ...answer(body, request, state) }, 201);
};
