import type { Delivery } from '../controller/index.ts';
import { OptionError, parseDuration } from '../runtime/index.ts';
import { parseYaml, YamlError } from '../text/index.ts';
import { configSchema, type Target } from './config-schema.ts';
import { fillTemplate, formatOf } from './template.ts';

export interface NotificationsConfig {
  /** How receivers tell clusters apart. */
  cluster: string | undefined;
  /** Default 24 hours. */
  stragglersAfterMs: number;
  targets: ReadonlyMap<string, Target>;
}

/** The configuration of notifications is not usable. The message names the field and the remedy, and no secret. */
export class NotificationsConfigError extends Error {
  readonly code = 'InvalidNotificationsConfig';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NotificationsConfigError';
  }
}

const DEFAULT_STRAGGLERS_AFTER = '24h';

const fieldOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');

/** Outside of the quotes of JSON, none of its texts is JSON. */
const example: Delivery = {
  id: '"',
  target: '"',
  daemonSet: {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    short: 'ds',
    namespace: '"',
    name: '"',
    uid: '"',
    rolloutName: '"',
  },
  notification: {
    kind: 'started',
    reason: '"',
    stage: '"',
    rollout: 1,
    revision: '"',
    at: '2026-01-01T00:00:00Z',
    message: '"',
    nodes: { eligible: 1, online: 1, updated: 0, failed: 0, offline: 0 },
    targets: [],
  },
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** What the fields of one target must fulfil together. */
const checkTarget = (target: Target, at: string, plainHttpHosts: readonly string[]): void => {
  const { protocol, host, hostname } = new URL(target.url);
  if (protocol === 'http:' && !plainHttpHosts.includes(host) && !plainHttpHosts.includes(hostname))
    throw new NotificationsConfigError(
      `${at}.url: must begin with https://; to send notifications to ${hostname} without encryption, add it to plainHttpHosts`,
    );
  if (target.type !== 'template') return;
  const { body, contentType = '' } = target;
  const format = formatOf(contentType);
  const filled = fillTemplate(body, contentType, example, '"');
  const texts = format === 'json' ? [filled] : format === 'json-lines' ? filled.trimEnd().split('\n') : [];
  if (!texts.every(isJson))
    throw new NotificationsConfigError(
      `${at}.body: is not JSON${format === 'json-lines' ? ' on each line' : ''} once the placeholders are filled; put each placeholder of a text in quotes`,
    );
};

/** Far more than the targets of a company need; the parser takes half a second for it. */
const MOST_CHARACTERS = 256 * 1024;

const readYaml = (text: string): unknown => {
  try {
    return parseYaml(text);
  } catch (error) {
    // Without the cause, which may quote a secret.
    if (error instanceof YamlError) throw new NotificationsConfigError(error.message);
    throw error;
  }
};

/** Parses and validates the configuration. Throws a `NotificationsConfigError`. */
export const parseConfig = (text: string): NotificationsConfig => {
  if (text.length > MOST_CHARACTERS)
    throw new NotificationsConfigError(
      `has more than ${MOST_CHARACTERS} characters: give fewer targets, or shorter bodies`,
    );
  const parsed = configSchema.safeParse(readYaml(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fieldOf(issue?.path ?? []);
    // The message names what is expected, never the value, which may be a secret.
    throw new NotificationsConfigError(`${field && `${field}: `}${issue?.message ?? 'is invalid'}`);
  }
  const { cluster, plainHttpHosts = [], stragglersAfter = DEFAULT_STRAGGLERS_AFTER, targets } = parsed.data;
  const byName = new Map<string, Target>();
  for (const [index, target] of targets.entries()) {
    const at = `targets[${index}]`;
    checkTarget(target, at, plainHttpHosts);
    if (byName.has(target.name))
      throw new NotificationsConfigError(`${at}.name: another target has the same name; give each its own`);
    byName.set(target.name, target);
  }
  return { cluster, stragglersAfterMs: durationOf(stragglersAfter), targets: byName };
};

const durationOf = (text: string): number => {
  try {
    return parseDuration('stragglersAfter', text);
  } catch (cause) {
    throw new NotificationsConfigError(cause instanceof OptionError ? cause.message : 'stragglersAfter: is invalid');
  }
};
