import { toTime } from '../../resources.ts';
import { methodNotAllowed } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { isRecord, type Json, textOf } from '../json.ts';
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

type Review = (body: Json, request: Request, state: ServerState) => Json;

const allowed: Review = () => ({ status: { allowed: true, reason: 'every known user may do everything' } });

const reviews: Readonly<Record<string, Review>> = {
  'authentication.k8s.io/selfsubjectreviews': (_, request, state) => ({
    metadata: { creationTimestamp: toTime(state.clock.now()) },
    status: { userInfo: userInfo(request.user) },
  }),
  'authentication.k8s.io/tokenreviews': (body, _, state) => {
    const spec = isRecord(body.spec) ? body.spec : {};
    const user = state.tokens.find(textOf(spec.token), state.clock.now());
    return { status: user ? { authenticated: true, user: userInfo(user) } : { error: 'the token is not known' } };
  },
  'authorization.k8s.io/selfsubjectaccessreviews': allowed,
  'authorization.k8s.io/subjectaccessreviews': allowed,
  'authorization.k8s.io/selfsubjectrulesreviews': () => ({ status: EVERYTHING }),
};

/** The review kinds, for discovery. */
export const reviewKinds: readonly { group: string; plural: string; kind: string }[] = [
  { group: 'authentication.k8s.io', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview' },
  { group: 'authentication.k8s.io', plural: 'tokenreviews', kind: 'TokenReview' },
  { group: 'authorization.k8s.io', plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview' },
  { group: 'authorization.k8s.io', plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview' },
  { group: 'authorization.k8s.io', plural: 'subjectaccessreviews', kind: 'SubjectAccessReview' },
];

const reviewOf = ({ group, version, plural, name }: Route): Review | undefined =>
  version === 'v1' && name === undefined ? reviews[`${group}/${plural}`] : undefined;

export const isReview = (route: Route): boolean => reviewOf(route) !== undefined;

/** Answers a review. */
export const serveReview = async (state: ServerState, route: Route, request: Request): Promise<Response> => {
  const review = reviewOf(route);
  if (!review || request.method !== 'POST') throw methodNotAllowed();
  const body = await readObject(request);
  const kind = reviewKinds.find(({ plural }) => plural === route.plural)?.kind;
  return json({ ...body, kind, apiVersion: `${route.group}/v1`, ...review(body, request, state) }, 201);
};
