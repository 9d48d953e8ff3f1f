import { failureReasons, weekdays } from '../types.ts';

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

const text = (description?: string): Schema => ({ type: 'string', ...(description ? { description } : {}) });
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const arrayOf = (items: Schema): Schema => ({ type: 'array', items });
const time = (description?: string): Schema => ({
  type: 'string',
  format: 'date-time',
  ...(description ? { description } : {}),
});

/** Properties are required unless their name ends with `?`; there are no others. */
const object = (properties: Record<string, Schema>, description?: string): Schema => {
  const named = Object.entries(properties).map(([name, schema]) => ({
    name: name.replace(/\?$/, ''),
    optional: name.endsWith('?'),
    schema,
  }));
  return {
    type: 'object',
    ...(description ? { description } : {}),
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
    required: named.filter(({ optional }) => !optional).map(({ name }) => name),
    additionalProperties: false,
  };
};

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const revision = text('Label controller-revision-hash of the pods of this revision.');
const localTime: Schema = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' };
const daemonSetRef = { namespace: text(), daemonSet: text() };

const when: Schema = {
  description: 'When to carry out an approved update. The device must be connected and safe in any case.',
  anyOf: [
    object({ type: { const: 'now' } }),
    object({
      type: { const: 'window' },
      from: localTime,
      to: localTime,
      'days?': arrayOf(oneOf(...weekdays)),
    }),
    object({ type: { const: 'safe' } }),
  ],
};

const choice: Schema = {
  anyOf: [
    object({ choice: { const: 'approve' }, when: ref('When') }),
    object({ choice: { const: 'postpone' }, until: time() }),
    object({ choice: { const: 'reject' } }),
  ],
};

const decisionRequest: Schema = {
  anyOf: [
    object({ revision, decision: { const: 'approve' }, 'when?': ref('When') }, 'Without `when`: now.'),
    object({ revision, decision: { const: 'postpone' }, until: time('The owner is asked again at this time.') }),
    object({ revision, decision: { const: 'reject' } }),
  ],
};

const caller = object({
  identity: text('`uid:0`, `token:NAME`, `cert:COMMON-NAME`, or `agent` for a decision made by the deadline.'),
  via: oneOf('loopback', 'unix', 'token', 'certificate', 'agent'),
});

const act = object({
  kind: oneOf('delete', 'approve'),
  pod: text(),
  podUid: text(),
  'podResourceVersion?': text('The version of the pod that the write is bound to.'),
  fromRevision: text(),
  toRevision: text(),
  startedAt: time(),
});

const decision = object({
  id: { type: 'integer' },
  ...daemonSetRef,
  revision,
  decision: ref('Choice'),
  by: caller,
  at: time(),
  state: oneOf('open', 'acting', 'done', 'refused', 'superseded', 'replaced'),
  'act?': act,
  'result?': text('Human-readable reason for the state.'),
  'settledAt?': time(),
});

const images = arrayOf(object({ container: text(), image: text() }));

const update = object({
  ...daemonSetRef,
  apiVersion: text('Of the DaemonSet.'),
  pod: nullable(text('The pod on this node.')),
  state: oneOf('current', 'available', 'postponed', 'rejected', 'queued', 'updating', 'failed', 'halted', 'unknown'),
  reason: text('CamelCase.'),
  message: text('One sentence for the owner of the device.'),
  running: object({ revision, images, ready: { type: 'boolean' } }),
  target: object({
    revision: nullable(revision),
    images: nullable(images),
    publishedAt: nullable(time()),
    notes: nullable({
      ...text('What the administrator says about it. Plain text with line breaks.'),
      maxLength: 2_000,
    }),
  }),
  size: object(
    { running: nullable({ type: 'integer' }), target: nullable({ type: 'integer' }) },
    'Bytes of the images, as the container runtime reports them; null if unknown.',
  ),
  image: object({ state: oneOf('unknown', 'pulling', 'ready', 'failed'), message: text() }),
  decision: nullable(ref('Decision')),
  deadline: nullable(object({ at: time(), actsAt: time('When this device updates.') })),
});

const historyEntry = object({
  at: time(),
  ...daemonSetRef,
  who: text(),
  what: text('CamelCase, such as Approved, Deleting, Updated.'),
  fromRevision: nullable(revision),
  toRevision: nullable(revision),
  result: text('One English sentence.'),
  'choice?': ref('Choice'),
  'tookSeconds?': { type: 'integer', description: 'From the delete until the new pod was ready.' },
  'reason?': oneOf(...failureReasons),
});

const device = object({
  node: text(),
  now: time(),
  timeZone: text(),
  connected: { type: 'boolean' },
  since: time('When `connected` last changed.'),
  lastContact: nullable(time()),
  safe: object({
    configured: { type: 'boolean' },
    safe: nullable({ type: 'boolean' }),
    message: text(),
  }),
  disk: object(
    {
      trouble: nullable(text('Why decisions cannot be saved now.')),
      damage: nullable(text('What was unreadable when the agent started: decisions may be missing.')),
    },
    'State of the storage for decisions. Human-readable, with the fix.',
  ),
});

const status = object(
  {
    kind: { const: 'Status' },
    apiVersion: { const: 'v1' },
    metadata: object({}),
    status: { const: 'Failure' },
    message: text(),
    reason: text('CamelCase.'),
    'details?': object({
      'causes?': arrayOf(object({ reason: text('CamelCase: the rule that refused the request.'), message: text() })),
      'retryAfterSeconds?': { type: 'integer' },
    }),
    code: { type: 'integer' },
  },
  'A Kubernetes Status.',
);

const podList: Schema = {
  type: 'object',
  description: 'A v1 PodList without managedFields and without literal values of environment variables.',
  properties: {
    kind: { const: 'PodList' },
    apiVersion: { const: 'v1' },
    metadata: object({ resourceVersion: text() }),
    items: arrayOf({ type: 'object' }),
  },
  required: ['kind', 'apiVersion', 'metadata', 'items'],
  additionalProperties: false,
};

/** The schemas of the shapes in src/agent/types.ts; a test keeps the two consistent. */
export const schemas: Readonly<Record<string, Schema>> = {
  When: when,
  Choice: choice,
  DecisionRequest: decisionRequest,
  Decision: decision,
  Update: update,
  UpdateList: object({ items: arrayOf(ref('Update')) }),
  HistoryEntry: historyEntry,
  History: object({ items: arrayOf(ref('HistoryEntry')) }, 'Newest first.'),
  Device: device,
  State: object({ device: ref('Device'), updates: arrayOf(ref('Update')) }, 'Data of an event `state`.'),
  PodList: podList,
  Status: status,
};
