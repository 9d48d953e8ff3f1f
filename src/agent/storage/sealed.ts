import { createHash } from 'node:crypto';

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex');

/** A text of JSON as it is on disk: its digest, a newline, the text, a newline. */
export const seal = (body: string): string => `${digestOf(body)}\n${body}\n`;

/** The value of a sealed text; throws if any byte of it has changed. */
export const unseal = (text: string): unknown => {
  const [digest = '', body = '', ...rest] = text.split('\n');
  if (digest !== digestOf(body) || rest.length !== 1 || rest[0] !== '') throw new Error('its digest is wrong');
  return JSON.parse(body);
};
