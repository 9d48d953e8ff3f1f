import { queryPlaceholders as names } from '../words/index.ts';
import type { CheckSubject, Problem } from './types.ts';

const PLACEHOLDER = /\$\{([^}]*)(\}?)/g;

const isName = (name: string | undefined): name is (typeof names)[number] => names.some((each) => each === name);

/** What is wrong with the placeholders of a text; undefined: nothing. */
export const placeholderProblem = (text: string): Problem | undefined => {
  const unknown = [...text.matchAll(PLACEHOLDER)].find(([, name, end]) => !isName(name) || end === '');
  if (!unknown) return undefined;
  const all = names.map((name) => `$\{${name}}`).join(', ');
  return { problem: `has "${unknown[0].slice(0, 40)}", which is not a placeholder`, remedy: `use ${all}` };
};

/** Puts the values in, as they are. */
export const fillIn = (
  text: string,
  subject: CheckSubject,
  write: (value: string) => string = (value) => value,
): string => text.replaceAll(PLACEHOLDER, (whole, name: string) => (isName(name) ? write(subject[name]) : whole));

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', "'": "\\'", '\n': '\\n', '`': '\\x60' };

/** Puts the values in so that each stays a part of the quoted text around it. */
export const fillInQuery = (query: string, subject: CheckSubject): string =>
  fillIn(query, subject, (value) => value.replaceAll(/[\\"'\n`]/g, (char) => escapes[char] ?? char));
