import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { annotation } from '../../words/index.ts';
import { clip, withoutUnseen } from '../shown-text.ts';

const LONGEST = 2_000;

/**
 * What an administrator says about a revision, as plain text; null for nothing. Kubernetes copies the annotations of the
 * DaemonSet to the revision that it records, so the text belongs to this template and comes back with it after a rollback.
 */
export const releaseNotesOf = ({ metadata }: Pick<ControllerRevision, 'metadata'>): string | null => {
  // Longer ones are not read to their end: a line break may be all that they consist of.
  const written = (metadata?.annotations?.[annotation.releaseNotes] ?? '').slice(0, 4 * LONGEST);
  const text = withoutUnseen(written)
    .replaceAll(/(?<! ) +$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return text === '' ? null : clip(text, LONGEST);
};
