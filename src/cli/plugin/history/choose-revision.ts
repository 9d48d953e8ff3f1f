import { CommandError } from '../errors.ts';
import { describeRevision, type Revision, type RevisionHistory } from './revisions.ts';

const titleOf = ({ kind, namespace, name }: RevisionHistory): string => `${kind.title} ${namespace}/${name}`;

/** What there is to choose from; the present one is named as such, for it is no choice. */
const listed = ({ revisions, present }: RevisionHistory): string =>
  revisions.length === 0
    ? 'none is kept'
    : `kept are ${revisions.map((one) => `${describeRevision(one)}${one.name === present?.name ? ', the present one' : ''}`).join('; ')}`;

export const noSuchRevision = (kept: RevisionHistory, number: number): CommandError =>
  new CommandError('NoSuchRevision', `there is no revision ${number} of ${titleOf(kept)}: ${listed(kept)}`);

/** Why the present revision may not be rolled out, although it is what is asked for. */
const whyItRests = ({ kind, status, name, present }: RevisionHistory): string =>
  status?.halted && status.target?.hash === present?.hash
    ? `; its rollout is halted: "kubectl edgeset resume ${kind.short}/${name}" goes on with it`
    : '';

const named = (kept: RevisionHistory, number: number): Revision => {
  const found = kept.revisions.find((revision) => revision.number === number);
  if (!found) throw noSuchRevision(kept, number);
  if (found.name === kept.present?.name)
    throw new CommandError(
      'NothingToUndo',
      `revision ${describeRevision(found)} is what ${titleOf(kept)} asks for already${whyItRests(kept)}: ${listed(kept)}`,
    );
  return found;
};

/**
 * The one before the present, by number, as with `kubectl rollout undo`. Where that is known not to be what a person who
 * is in a hurry wants (it failed before, or another one was the last that worked) nothing is chosen.
 */
const before = (kept: RevisionHistory): Revision => {
  const { kind, revisions, present, uncertain, lastComplete, rolledBackHash } = kept;
  if (uncertain)
    throw new CommandError(
      'ChoiceNeeded',
      `the ${kind.podController} has not recorded the present template of ${titleOf(kept)} yet: see whether it runs and try again, or name the revision that you want with --to-revision; ${listed(kept)}`,
    );
  const found = revisions.findLast(({ name }) => name !== present?.name);
  if (!found)
    throw new CommandError(
      'NothingToUndo',
      `${titleOf(kept)} keeps no earlier revision to go back to: set the template that you want, with "kubectl apply"`,
    );
  if (found.hash === rolledBackHash)
    throw new CommandError(
      'ChoiceNeeded',
      `revision ${describeRevision(found)}, the one before the present, failed and was rolled back: name the one that you want with --to-revision; ${listed(kept)}`,
    );
  if (lastComplete && lastComplete.name !== present?.name && lastComplete.name !== found.name)
    throw new CommandError(
      'ChoiceNeeded',
      `revision ${describeRevision(found)}, the one before the present, is not the last that was complete, which was ${describeRevision(lastComplete)}: say which you want, --to-revision ${lastComplete.number} or --to-revision ${found.number}`,
    );
  return found;
};

/** The revision to go back to, and its template. Throws a `CommandFailure` that says what there is instead. */
export const chooseRevision = (
  kept: RevisionHistory,
  number: number | undefined,
): { revision: Revision; template: object } => {
  const revision = number === undefined ? before(kept) : named(kept, number);
  const { template } = revision;
  if (!template)
    throw new CommandError(
      'NoSuchRevision',
      `ControllerRevision ${revision.name} holds no pod template: choose another revision; ${listed(kept)}`,
    );
  return { revision, template };
};
