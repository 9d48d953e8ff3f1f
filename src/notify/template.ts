import type { Delivery } from '../controller/index.ts';

/** What a body may contain as `{{name}}`. */
export const placeholders = [
  'id',
  'cluster',
  'namespace',
  'name',
  'kind',
  'reason',
  'stage',
  'title',
  'message',
  'revision',
  'rollout',
  'time',
  'eligible',
  'online',
  'updated',
  'failed',
  'offline',
] as const;
type Placeholder = (typeof placeholders)[number];

const PLACEHOLDER = /\{\{\s*(?:([\w.-]+)\s*)?\}\}/g;
const isPlaceholder = (name: string): name is Placeholder => placeholders.some((each) => each === name);

export const unknownPlaceholders = (body: string): string[] =>
  [...body.matchAll(PLACEHOLDER)].map(([, name = '']) => name).filter((name) => !isPlaceholder(name));

/** The types of content whose rules are known. All of `application/*+json` is JSON, too. */
const formats: ReadonlyMap<string, 'text' | 'json' | 'json-lines' | 'form'> = new Map([
  ['text/plain', 'text'],
  ['application/json', 'json'],
  ['application/x-ndjson', 'json-lines'],
  ['application/x-www-form-urlencoded', 'form'],
]);
const CONTENT_TYPE = /^([a-z]+\/[\w.+-]+)( ?; ?charset=("utf-8"|utf-8))?$/;

/** Undefined for a type that no text can be put into safely, or that is none. */
export const formatOf = (contentType: string) => {
  const [, type = ''] = CONTENT_TYPE.exec(contentType.toLowerCase()) ?? [];
  return formats.get(type) ?? (/^application\/.+\+json$/.test(type) ? 'json' : undefined);
};

/** Text from the cluster can't leave the place that the template gives it. */
const encoderFor = (contentType: string): ((value: string) => string) => {
  switch (formatOf(contentType)) {
    case 'text':
      return (value) => value;
    case 'json':
    case 'json-lines':
      return (value) => JSON.stringify(value).slice(1, -1);
    case 'form':
    case undefined:
      return (value) => encodeURIComponent(value.toWellFormed());
  }
};

const titles = {
  started: 'rollout started',
  halted: 'rollout halted',
  waiting: 'rollout is waiting',
  completed: 'rollout complete on all online nodes',
  'all-nodes-updated': 'rollout complete on all nodes',
  stragglers: 'nodes are left behind',
} as const;

/** What a stage waits for, by the reason of the notification. */
const stageTitles: Readonly<Record<string, string>> = {
  AwaitingApproval: 'waits for approval',
  StageTimedOut: 'has timed out',
};

/** `edge/app: rollout halted`, for people. */
export const titleOf = ({ daemonSet, notification }: Delivery, cluster: string | undefined): string => {
  const { kind, reason = '', stage } = notification;
  const ofStage = stageTitles[reason];
  const what = stage !== undefined && ofStage !== undefined ? `stage ${stage} ${ofStage}` : titles[kind];
  return `${cluster === undefined ? '' : `${cluster}: `}${daemonSet.namespace}/${daemonSet.name}: ${what}`;
};

/** `12 of 15 online nodes updated, 3 offline`. */
export const progressOf = ({ notification: { nodes } }: Delivery): string =>
  [
    `${nodes.updated} of ${nodes.online} online nodes updated`,
    ...(nodes.failed > 0 ? [`${nodes.failed} failed`] : []),
    ...(nodes.offline > 0 ? [`${nodes.offline} offline`] : []),
  ].join(', ');

/** Fills the placeholders, each encoded for the type of the content. */
export const fillTemplate = (
  body: string,
  contentType: string,
  delivery: Delivery,
  cluster: string | undefined,
): string => {
  const { id, daemonSet, notification } = delivery;
  const { kind, reason = '', stage = '', message, revision, rollout, at, nodes } = notification;
  const values: Readonly<Record<Placeholder, string | number>> = {
    id,
    cluster: cluster ?? '',
    namespace: daemonSet.namespace,
    name: daemonSet.name,
    kind,
    reason,
    stage,
    title: titleOf(delivery, cluster),
    message,
    revision,
    rollout,
    time: at,
    ...nodes,
  };
  const encode = encoderFor(contentType);
  return body.replaceAll(PLACEHOLDER, (whole, name: string) =>
    isPlaceholder(name) ? encode(String(values[name])) : whole,
  );
};
