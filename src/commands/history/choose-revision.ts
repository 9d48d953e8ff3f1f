import { CommandError } from '../../view/index.ts';
import { priorRevision } from './prior-revision.ts';
import { describeRevision, lastCompleteName, type Revision, type RevisionHistory } from './revisions.ts';

const titleOf = ({ kind, namespace, name }: RevisionHistory): string => `${kind.title} ${namespace}/${name}`;

/** The revisions to choose from; the current one is marked. */
const listed = ({ revisions, present }: RevisionHistory): string =>
  revisions.length === 0
    ? 'no revisions are kept'
    : `the kept revisions are ${revisions.map((one) => `${describeRevision(one)}${one.name === present?.name ? ', the current one' : ''}`).join('; ')}`;

export const noSuchRevision = (kept: RevisionHistory, number: number): CommandError =>
  new CommandError('NoSuchRevision', `there is no revision ${number} of ${titleOf(kept)}: ${listed(kept)}`);

/** How to continue if the rollout of the current revision is halted. */
const resumeHint = ({ kind, status, name, present, edgeset }: RevisionHistory): string =>
  status?.halted && status.target?.hash === present?.hash
    ? `; its rollout is halted: "${edgeset(`resume ${kind.short}/${name}`)}" continues it`
    : '';

const named = (kept: RevisionHistory, number: number): Revision => {
  const found = kept.revisions.find((revision) => revision.number === number);
  if (!found) throw noSuchRevision(kept, number);
  if (found.name === kept.present?.name)
    throw new CommandError(
      'NothingToUndo',
      `revision ${describeRevision(found)} is already the current one of ${titleOf(kept)}${resumeHint(kept)}: ${listed(kept)}`,
    );
  return found;
};

/** Throws a `CommandError` where the user must choose. */
const byDefault = (kept: RevisionHistory): Revision => {
  const { kind, uncertain, status } = kept;
  const choose = `choose a revision with --to-revision; ${listed(kept)}`;
  if (uncertain)
    throw new CommandError(
      'ChoiceNeeded',
      `the ${kind.podController} has not recorded the current template of ${titleOf(kept)} yet: check that it is running and try again, or ${choose}`,
    );
  const found = priorRevision(kept);
  switch (found.why) {
    case undefined:
      return found.revision;
    case 'not-kept':
      throw new CommandError(
        'ChoiceNeeded',
        `the last complete revision of ${titleOf(kept)}, ${lastCompleteName(status)}, is no longer kept: ${choose}`,
      );
    case 'none':
      throw new CommandError(
        'NothingToUndo',
        `${titleOf(kept)} has no earlier revision to roll back to: set the template that you want with "kubectl apply"`,
      );
    case 'failed':
      throw new CommandError(
        'ChoiceNeeded',
        `revision ${describeRevision(found.revision)}, to which undo would return, failed: ${choose}`,
      );
  }
};

export interface ChosenRevision {
  revision: Revision;
  template: object;
}

/** The revision to roll back to, and its template. Throws a `CommandError` that lists the alternatives. */
export const chooseRevision = (kept: RevisionHistory, number: number | undefined): ChosenRevision => {
  const revision = number === undefined ? byDefault(kept) : named(kept, number);
  const { template } = revision;
  if (!template)
    throw new CommandError(
      'NoSuchRevision',
      `ControllerRevision ${revision.name} contains no pod template: choose another revision; ${listed(kept)}`,
    );
  return { revision, template };
};
