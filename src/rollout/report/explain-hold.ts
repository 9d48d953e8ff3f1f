import type { Hold } from '../decision/hold.ts';
import { toTimestamp } from '../facts/metadata.ts';
import { annotationWords, type PolicyWords } from '../policy/policy.ts';
import { formatPolicyError } from '../policy/values.ts';
import { namesOf, REMEDY_OF_DRIFT } from './image-drift.ts';
import type { RemedyCommand } from './remedy-command.ts';

/** A duration for people, in the largest unit that keeps it readable. */
export const seconds = (ms: number): string => {
  const whole = Math.max(0, Math.round(ms / 1000));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return whole < 259_200 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} d`;
};

const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** `12 nodes: a, b, c and 9 more`. The nodes are those of the moment of the halt: others may have failed since. */
const failedNodes = ({ halt: { nodes }, failures }: Extract<Hold, { kind: 'halted' }>): string => {
  const all = Math.max(failures, nodes.length);
  const more = all > nodes.length && nodes.length > 0 ? ` and ${all - nodes.length} more` : '';
  return `${plural(all, 'node')}${nodes.length > 0 ? `: ${nodes.join(', ')}` : ''}${more}`;
};

/** What to do about a version that failed. */
export const REMEDY_OF_FAILURE = {
  remedy: 'Roll back, set a template that works, or continue despite the failures.',
  commands: [{ verb: 'undo' }, { verb: 'resume' }],
} as const satisfies Omit<HoldExplanation, 'what'>;

export interface HoldExplanation {
  what: string;
  /** What to do about it, in words: a sentence, or nothing where commands say it. */
  remedy: string;
  commands?: readonly RemedyCommand[];
}

/** What holds the whole rollout, and what to do about it. `words` are the policy's; the default is for annotations. */
export const explainHold = (hold: Hold, words: PolicyWords = annotationWords): HoldExplanation => {
  switch (hold.kind) {
    case 'unsynced':
      return {
        what: "The manager's cache is not synced, or is stale",
        remedy: 'This resolves by itself; if it lasts, see the log of the manager.',
      };
    case 'unobserved':
      return {
        what: hold.what ?? `The ${words.podController} has not recorded the current template yet`,
        remedy: hold.remedy ?? `If this lasts, check that ${words.podControllerProgram} is running.`,
      };
    case 'invalid':
      return {
        what: hold.what ?? 'The rollout policy is not valid',
        remedy: hold.errors.map(formatPolicyError).join(' '),
      };
    case 'error':
      return {
        what: hold.what,
        remedy:
          'Nothing of the DaemonSet is updated until that succeeds. The manager tries again when the object changes, and at least every 30 s; its log has the details.',
      };
    case 'refused':
      return {
        what: `The API server refuses new pods: ${hold.message}`,
        remedy:
          'It is asked again by itself. Change what it complains about: the template, a quota, or an admission policy.',
      };
    case 'deleted':
      return {
        what: 'The DaemonSet is being deleted',
        remedy: 'It is removed once no pod waits for its preDelete hook.',
      };
    case 'owner':
      return {
        what: `The owner of each device decides when its pod is replaced${hold.deadline ? `, until ${hold.deadline.at}: within ${seconds(hold.deadline.spreadMs)} after that, devices update by themselves` : ''}`,
        remedy: `Condition PodNeedUpgrade of the pods shows the offer. ${words.automate}`,
      };
    case 'manual':
      return {
        what: 'The manager updates nothing: the update strategy is OnDelete',
        remedy: `A deleted pod is recreated at the target revision. ${words.automate}`,
      };
    case 'paused':
      return { what: 'The rollout is paused', remedy: '', commands: [{ verb: 'resume' }] };
    case 'frozen':
      return {
        what: 'The budget is zero, so nothing is updated',
        remedy: '',
        commands: [{ verb: 'set', flag: 'max-unavailable', value: 'VALUE' }],
      };
    case 'halted':
      if (hold.halt.reason === 'CheckFailed')
        return {
          what: `The rollout is halted: check ${hold.halt.check} of the rollout plan failed`,
          remedy: 'Roll back, set a template that works, or continue to have the check evaluated again.',
          commands: [{ verb: 'undo' }, { verb: 'resume' }],
        };
      if (hold.halt.reason === 'ImageDrift')
        return {
          what: `The rollout is halted: nodes run different content under the name of ${namesOf(hold.drift)}`,
          remedy: `${REMEDY_OF_DRIFT} Roll back, or continue nevertheless.`,
          commands: [{ verb: 'undo' }, { verb: 'resume' }],
        };
      return hold.halt.reason === 'RolledBack'
        ? {
            what: 'This revision was rolled back before and has been set again, so it is not rolled out',
            remedy: 'Roll back, set another template, or continue with this one.',
            commands: [{ verb: 'undo' }, { verb: 'resume' }],
          }
        : {
            what: `The rollout is halted: the target revision failed on ${failedNodes(hold)}`,
            ...REMEDY_OF_FAILURE,
          };
    case 'window': {
      const until = hold.until < Number.POSITIVE_INFINITY ? `until ${toTimestamp(hold.until)}` : 'from now on';
      return hold.freeze === undefined
        ? {
            what: `No window of the rollout plan is open ${until}`,
            remedy: 'To update now, change the windows of the plan.',
          }
        : {
            what: `A freeze of the rollout plan forbids updates ${until}${hold.freeze && ` (${hold.freeze})`}`,
            remedy: 'To update now, change the freezes of the plan.',
          };
    }
    case 'waiting': {
      const { failures, suspects, threshold } = hold.breaker;
      return {
        what: `No further node is updated while ${plural(failures, 'failure')} and ${plural(suspects, 'suspect')} reach the threshold of ${threshold}`,
        remedy: 'Suspects that return and work are cleared; others become failures when the suspect window ends.',
      };
    }
  }
};
