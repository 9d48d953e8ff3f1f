import { arrayOf, constant, integer, object, ref, type Schema, text } from '../schema.ts';
import {
  choiceSchema,
  decisionRequestSchema,
  decisionSchema,
  deviceSchema,
  historyEntrySchema,
  updateSchema,
  whenSchema,
} from '../types.ts';
import type { Route } from './route.ts';

const cause = object({ reason: text('CamelCase: the rule that refused the request.'), message: text() });
const statusSchema = object(
  {
    kind: constant('Status'),
    apiVersion: constant('v1'),
    metadata: object({}),
    status: constant('Failure'),
    message: text(),
    reason: text('CamelCase.'),
    details: object(
      { causes: arrayOf(cause), retryAfterSeconds: integer },
      { optional: ['causes', 'retryAfterSeconds'] },
    ),
    code: integer,
  },
  { optional: ['details'], description: 'A Kubernetes Status.' },
);

const podList: Schema = {
  type: 'object',
  description: 'A v1 PodList without managedFields and without literal values of environment variables.',
  properties: {
    kind: constant('PodList'),
    apiVersion: constant('v1'),
    metadata: object({ resourceVersion: text() }),
    items: arrayOf({ type: 'object' }),
  },
  required: ['kind', 'apiVersion', 'metadata', 'items'],
  additionalProperties: false,
};

/** The schemas of the API by their names in the OpenAPI document. */
const schemas: Readonly<Record<string, Schema>> = {
  When: whenSchema,
  Choice: choiceSchema,
  DecisionRequest: decisionRequestSchema,
  Decision: decisionSchema,
  Update: updateSchema,
  UpdateList: object({ items: arrayOf(ref('Update')) }),
  HistoryEntry: historyEntrySchema,
  History: object({ items: arrayOf(ref('HistoryEntry')) }, { description: 'Newest first.' }),
  Device: deviceSchema,
  State: object(
    { device: ref('Device'), updates: arrayOf(ref('Update')) },
    { description: 'Data of an event `state`.' },
  ),
  PodList: podList,
  Status: statusSchema,
};

const status = (description: string): object => ({
  description,
  content: { 'application/json': { schema: ref('Status') } },
});

/** Responses of the guards in front of every route. */
export const guardResponses: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'Credentials are missing.',
  403: 'The caller is not allowed, or the request comes from a page of another site.',
  413: 'The body is too large.',
  421: 'The Host header names another machine.',
  429: 'Too many requests, connections or streams.',
  500: 'Internal error.',
};

/** Responses of operations that save to disk first. */
const diskResponses: Readonly<Record<number, string>> = {
  503: 'The decision cannot be saved: the disk is read-only or failing, access is denied, or another agent uses it. Nothing was done.',
  507: 'The disk is full. Nothing was done.',
};

const guardsOf = ({ method }: Route): Readonly<Record<number, string>> =>
  method === 'POST' ? { ...guardResponses, ...diskResponses } : guardResponses;

const descriptions = {
  namespace: 'A DNS label.',
  podName: 'A DNS subdomain.',
  daemonSet: 'A DNS subdomain.',
} as const;

const operationOf = (route: Route): object => {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inPath = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(name in descriptions ? { description: descriptions[name as keyof typeof descriptions] } : {}),
  }));
  const inQuery = (route.query ?? []).map((each) => ({ ...each, in: 'query' }));
  const own = Object.entries(route.responses).map(([code, { description, contentType, schema, headers = {} }]) => {
    const guard = guardsOf(route)[Number(code)];
    // A status that both the route and a guard use is described with both content types.
    const content =
      guard === undefined || contentType === 'application/json'
        ? { [contentType]: { schema } }
        : { [contentType]: { schema }, 'application/json': { schema: ref('Status') } };
    const listed = Object.entries(headers).map(([name, what]) => [
      name,
      { description: what, schema: { type: 'string' } },
    ]);
    return [
      code,
      {
        description,
        ...(listed.length === 0 ? {} : { headers: Object.fromEntries(listed) as object }),
        content,
      },
    ] as const;
  });
  const guards = Object.entries(guardsOf(route)).map(([code, description]) => [code, status(description)] as const);
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(inPath.length + inQuery.length === 0 ? {} : { parameters: [...inPath, ...inQuery] }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: route.body.schema,
                examples: Object.fromEntries(
                  Object.entries(route.body.examples).map(([name, value]) => [name, { value }]),
                ),
              },
            },
          },
        }),
    responses: Object.fromEntries([...guards, ...own]),
  };
};

/** The OpenAPI document, built from the same table that routes requests. */
export const openApi = (routes: readonly Route[], version: string): object => {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const item = (paths[route.path] ??= {});
    item[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'edgeset agent',
      version,
      description: "The edge node's API: available updates, and the owner's decisions about them.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{}, { token: [] }, { certificate: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of --token-file.' },
        certificate: { type: 'mutualTLS', description: 'A certificate of --client-ca-file.' },
      },
    },
  };
};
