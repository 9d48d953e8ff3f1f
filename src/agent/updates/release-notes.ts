import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { annotation } from '../../words/index.ts';

const LONGEST = 2_000;

/** Control characters, and those that reverse or hide other text. Joiners stay: scripts and emoji need them. */
const UNSEEN = /[^\P{Cc}\n]|[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

const clip = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/**
 * What an administrator says about a revision, as plain text; null for nothing. Kubernetes copies the annotations of the
 * DaemonSet to the revision that it records, so the text belongs to this template and comes back with it after a rollback.
 */
export const releaseNotesOf = ({ metadata }: Pick<ControllerRevision, 'metadata'>): string | null => {
  // Longer ones are not read to their end: a line break may be all that they consist of.
  const written = (metadata?.annotations?.[annotation.releaseNotes] ?? '').slice(0, 4 * LONGEST);
  const text = written
    .replaceAll(/\r\n?|\u2028|\u2029/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(UNSEEN, '')
    .replaceAll(/(?<! ) +$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return text === '' ? null : clip(text);
};
