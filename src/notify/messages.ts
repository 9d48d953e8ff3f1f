import { createHmac } from 'node:crypto';
import type { Delivery } from '../controller/index.ts';
import type { NotificationsConfig } from './config.ts';
import type { Target, TemplateTarget, WebhookTarget } from './config-schema.ts';
import type { PostRequest } from './post.ts';
import { fillTemplate, progressOf, titleOf } from './template.ts';

interface Content {
  contentType: string;
  body: string;
  headers?: Readonly<Record<string, string>>;
}

type Cluster = NotificationsConfig['cluster'];

const json = (contentType: string, value: object): Content => ({ contentType, body: JSON.stringify(value) });

/** An event of CloudEvents 1.0 in structured mode. */
const cloudEvent = ({ id, daemonSet, notification }: Delivery, cluster: Cluster): Content => {
  const { apiVersion, kind, namespace, name, uid } = daemonSet;
  const { kind: what, at, targets: _, ...details } = notification;
  return json('application/cloudevents+json; charset=utf-8', {
    specversion: '1.0',
    id,
    source: cluster === undefined ? '/edgeset' : `/edgeset/clusters/${cluster}`,
    type: `io.edgeset.rollout.${what}`,
    subject: `/apis/${apiVersion}/namespaces/${namespace}/daemonsets/${name}`,
    time: at,
    datacontenttype: 'application/json',
    data: {
      ...(cluster !== undefined && { cluster }),
      daemonSet: { apiVersion, kind, namespace, name, uid },
      ...details,
    },
  });
};

/** The headers of Standard Webhooks. Each key signs, so that receivers can change theirs one after the other. */
export const signatureHeaders = (
  { keys }: Pick<WebhookTarget, 'keys'>,
  id: string,
  body: string,
  now: number,
): Record<string, string> => {
  const timestamp = String(Math.floor(now / 1000));
  const sign = (key: string): string =>
    createHmac('sha256', Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => `v1,${sign(key)}`).join(' '),
  };
};

const signed = (target: WebhookTarget, delivery: Delivery, cluster: Cluster, now: number): Content => {
  const content = cloudEvent(delivery, cluster);
  return { ...content, headers: signatureHeaders(target, delivery.id, content.body, now) };
};

/** The text of a notification outside of blocks may mention people unless it is escaped. */
const slackEscape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const slack = (delivery: Delivery, cluster: Cluster): Content => {
  const { message, revision } = delivery.notification;
  const title = titleOf(delivery, cluster);
  const plain = (text: string, most: number) => ({ type: 'plain_text', text: text.slice(0, most), emoji: false });
  return json('application/json; charset=utf-8', {
    text: slackEscape(title),
    blocks: [
      { type: 'section', text: plain(title, 3000) },
      { type: 'section', text: plain(message, 3000) },
      { type: 'context', elements: [plain(`${revision}: ${progressOf(delivery)}`, 2000)] },
    ],
  });
};

/** An adaptive card, as workflows take it that start when a webhook request is received. Its text runs are no Markdown. */
const teams = (delivery: Delivery, cluster: Cluster): Content => {
  const { message, revision, at } = delivery.notification;
  const text = (content: string, look: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: content, ...look }],
  });
  return json('application/json; charset=utf-8', {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            text(titleOf(delivery, cluster), { weight: 'Bolder', size: 'Medium' }),
            text(message),
            text(`${revision}: ${progressOf(delivery)} (${at})`, { isSubtle: true }),
          ],
        },
      },
    ],
  });
};

const fromTemplate = ({ body, contentType }: TemplateTarget, delivery: Delivery, cluster: Cluster): Content => {
  const type = contentType ?? 'text/plain; charset=utf-8';
  return { contentType: type, body: fillTemplate(body, type, delivery, cluster) };
};

const contentFor = (target: Target, delivery: Delivery, cluster: Cluster, now: number): Content => {
  switch (target.type) {
    case 'webhook':
      return signed(target, delivery, cluster, now);
    case 'slack':
      return slack(delivery, cluster);
    case 'teams':
      return teams(delivery, cluster);
    case 'template':
      return fromTemplate(target, delivery, cluster);
  }
};

/** The request that tells the target. `now`: epoch ms by the clock of the world, which receivers compare with theirs. */
export const requestFor = (
  target: Target,
  delivery: Delivery,
  cluster: Cluster,
  { userAgent, now }: { userAgent: string; now: number },
): PostRequest => {
  const { contentType, body, headers } = contentFor(target, delivery, cluster, now);
  return {
    url: target.url,
    headers: { ...target.headers, ...headers, 'user-agent': userAgent, 'content-type': contentType },
    body,
    ca: target.ca,
  };
};
