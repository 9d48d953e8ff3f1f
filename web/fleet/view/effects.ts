import { text } from '../text/index.ts';
import { type CommandRequest, type RolloutHead, versionStep } from '../types.ts';
import { consequenceOf } from './stages.ts';

/** A command for the rollout that is shown. */
export type Asked = Pick<CommandRequest, 'command' | 'maxUnavailable' | 'partition' | 'stage' | 'revision'>;

type Head = Pick<
  RolloutHead,
  'name' | 'headline' | 'phases' | 'breaker' | 'budget' | 'settings' | 'strategy' | 'revisions' | 'target' | 'stages'
> & { undoTo?: string | undefined };

/** The version, or the revision, that an undo returns to; empty if the command line must tell. */
export const undoTarget = ({ undoTo, revisions, target }: Head, revision: number | undefined): string => {
  if (revision === undefined) return undoTo ?? '';
  const imagesOf = (found: Head['revisions'][number] | undefined): readonly string[] => found?.images ?? [];
  const present = imagesOf(revisions.find(({ hash }) => hash === target));
  const { to } = versionStep(present, imagesOf(revisions.find(({ number }) => number === revision)));
  return to === '' ? text.command.revision(revision) : to;
};

const isInSpite = ({ command }: Asked, { headline }: Head): boolean =>
  command === 'resume' && headline.state === 'halted';

/** Whether it does what the rollout's own rules don't allow. */
export const isDangerous = (asked: Asked, head: Head): boolean => asked.command === 'promote' || isInSpite(asked, head);

/** What the command does, as a title, and without the object as the text of a button. */
export const verbOf = (asked: Asked, head: Head): { title: string; button: string } => {
  const { verbs } = text.command;
  const { command, stage = '', revision } = asked;
  switch (command) {
    case 'undo':
      return verbs.undo(head.name, undoTarget(head, revision));
    case 'resume':
      if (!isInSpite(asked, head)) return verbs.resume(head.name);
      return head.breaker.failures > 0
        ? verbs.resumeInSpite(head.name, head.breaker.failures)
        : verbs.resumeNevertheless(head.name);
    case 'approve':
    case 'promote':
      return verbs[command](head.name, stage);
    case 'pause':
    case 'set':
    case 'plan':
      return verbs[command](head.name);
  }
};

/** `10%`, of what limits how many nodes are down at a time, and what that is in nodes; empty where owners decide. */
const budgetText = ({ strategy, settings, budget }: Head): string[] =>
  strategy === 'auto' && budget.limit > 0
    ? [text.effects.budget(settings.maxSurge ?? settings.maxUnavailable, budget.limit)]
    : [];

/** What happens next, as far as the page knows it. */
export const effectsOf = (asked: Asked, head: Head, now?: number): string[] => {
  const { effects } = text;
  const { phases, headline } = head;
  const { command, stage, revision } = asked;
  const isHalted = headline.state === 'halted';
  const offline = phases.offline > 0 ? [effects.offline(phases.offline)] : [];
  switch (command) {
    case 'pause':
      return [effects.pause];
    case 'resume':
      return [
        ...(isHalted && head.breaker.failures > 0 ? [effects.forgive(head.breaker.failures)] : []),
        ...(isHalted && head.breaker.failures === 0 ? [`${headline.title}.`] : []),
        effects.goOn(phases.outdated),
        ...budgetText(head),
        ...(isHalted ? [effects.haltAgain] : []),
      ];
    case 'undo':
      return [
        ...(isHalted && phases.failed > 0 ? [effects.repair(phases.failed, undoTarget(head, revision))] : []),
        ...budgetText(head),
        ...offline,
      ];
    case 'approve':
    case 'promote': {
      const step = head.stages?.steps.find(({ name }) => name === stage);
      return step ? [consequenceOf(command, step, now)] : [];
    }
    case 'set':
    case 'plan':
      return [];
  }
};
