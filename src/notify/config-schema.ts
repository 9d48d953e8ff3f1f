// The tree-shakable build of zod, as for kubeconfigs.
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { daemonRolloutLimits, notificationKinds } from '../words/index.ts';
import { formatOf, placeholders, unknownPlaceholders } from './template.ts';

z.config(en());

const KEY = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
const KEY_BYTES = { least: 24, most: 64 };

const isKey = (key: string): boolean => {
  const { length } = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  return KEY.test(key) && length >= KEY_BYTES.least && length <= KEY_BYTES.most;
};

const nonEmptyList = <T extends z.ZodMiniType>(items: T, what: string, most: number) =>
  z
    .array(items, { error: `must be a list of ${what}` })
    .check(
      z.minLength(1, `is empty: name ${what}, or leave the field out`),
      z.maxLength(most, `has too many items: give at most ${most}`),
    );

const kinds = nonEmptyList(
  z.enum(notificationKinds, { error: `must be one of ${notificationKinds.join(', ')}` }),
  'kinds of notification',
  notificationKinds.length,
);

const namespaces = nonEmptyList(
  z
    .string({ error: 'must be the name of a namespace' })
    .check(
      z.regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$|^[-a-z0-9]*\*$/, 'must be a namespace, or the begin of some and *'),
    ),
  'namespaces',
  100,
);

const headerName = z.string().check(z.regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header'));
const headerValue = z
  .string({ error: 'must be a text: put it in quotes' })
  .check(z.regex(/^[\x20-\x7e]+$/, 'must be printable ASCII on one line'));
/** What the request itself says. */
const OWN_HEADERS = /^(host|content-(type|length)|connection|transfer-encoding|user-agent|webhook-.*)$/i;
const headers = z.record(headerName, headerValue, { error: 'must be a map of header names to texts' }).check(
  z.refine((map) => !Object.keys(map).some((name) => OWN_HEADERS.test(name)), {
    error: 'must not set a header of the request itself, such as Host, Content-Type or Webhook-Id',
  }),
);

const common = {
  name: z
    .string({ error: 'must be a text that names the target in the log, in metrics and in DaemonRollouts' })
    .check(z.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must consist of lower-case letters, digits and dashes')),
  url: z.string({ error: 'must be a URL' }).check(
    z.refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol), {
      error: 'must be a URL such as https://hooks.example.com/edgeset',
    }),
    z.refine((url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '', {
      error: 'must not contain a user or password: use headers',
    }),
  ),
  kinds: z.optional(kinds),
  namespaces: z.optional(namespaces),
  headers: z.optional(headers),
  ca: z.optional(
    z
      .string({ error: 'must be certificates in PEM format' })
      .check(z.includes('-----BEGIN CERTIFICATE-----', { error: 'must be certificates in PEM format' })),
  ),
};

const webhook = z.strictObject({
  type: z.literal('webhook'),
  ...common,
  keys: nonEmptyList(
    z.string({ error: 'must be a text' }).check(
      z.refine(isKey, {
        error: `must be whsec_ and the base64 form of ${KEY_BYTES.least} to ${KEY_BYTES.most} bytes: echo "whsec_$(openssl rand -base64 32)"`,
      }),
    ),
    'signing keys',
    4,
  ),
});

const template = z.strictObject({
  type: z.literal('template'),
  ...common,
  contentType: z.optional(
    z.string({ error: 'must be a text' }).check(
      z.refine((type) => formatOf(type) !== undefined, {
        error:
          'must be text/plain, application/json or application/NAME+json, application/x-ndjson, or application/x-www-form-urlencoded, each with "; charset=utf-8" or without',
      }),
    ),
  ),
  body: z.string({ error: 'must be a text' }).check(
    z.minLength(1, 'is empty: give the text of the request'),
    z.maxLength(16_384, 'is too long: give at most 16384 characters'),
    z.refine((body) => unknownPlaceholders(body).length === 0, {
      error: `has an unknown placeholder: use ${placeholders.map((name) => `{{${name}}}`).join(' ')}`,
    }),
  ),
});

const target = z.discriminatedUnion(
  'type',
  [
    webhook,
    z.strictObject({ type: z.literal('slack'), ...common }),
    z.strictObject({ type: z.literal('teams'), ...common }),
    template,
  ],
  { error: 'must be a target whose type is webhook, slack, teams or template' },
);

export const configSchema = z.strictObject({
  cluster: z.optional(
    z
      .string({ error: 'must be a text that names this cluster to receivers' })
      .check(z.regex(/^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/, 'must be a name of at most 63 characters')),
  ),
  plainHttpHosts: z.optional(
    nonEmptyList(
      z
        .string({ error: 'must be a host' })
        .check(z.regex(/^(\[[0-9a-f:]+\]|[-.a-z0-9]+)(:\d{1,5})?$/, 'must be a host or host:port in lower case')),
      'hosts',
      16,
    ),
  ),
  stragglersAfter: z.optional(z.string({ error: 'must be a duration such as 24h' })),
  targets: z
    .array(target, { error: 'must be a list of targets' })
    .check(z.maxLength(daemonRolloutLimits.targets, `has too many items: give at most ${daemonRolloutLimits.targets}`)),
});

export type Target = z.infer<typeof target>;
export type WebhookTarget = z.infer<typeof webhook>;
export type TemplateTarget = z.infer<typeof template>;
