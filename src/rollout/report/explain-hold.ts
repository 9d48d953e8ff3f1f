import type { Hold } from '../decision/hold.ts';
import { annotationWords, type PolicyWords } from '../policy/policy.ts';
import { formatPolicyError } from '../policy/values.ts';

/** A duration for people, in the largest unit that keeps it readable. */
export const seconds = (ms: number): string => {
  const whole = Math.max(0, Math.round(ms / 1000));
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3600)} h`;
};

const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** What holds the whole rollout, and what to do about it. `words` are the policy's; the default is for annotations. */
export const explainHold = (hold: Hold, words: PolicyWords = annotationWords): { what: string; remedy: string } => {
  switch (hold.kind) {
    case 'unsynced':
      return {
        what: "The manager's cache is not synced, or is stale",
        remedy: 'This resolves by itself; if it lasts, see the log of the manager.',
      };
    case 'unobserved':
      return {
        what: `The ${words.podController} has not recorded the current template yet`,
        remedy: `If this lasts, check that ${words.podControllerProgram} is running.`,
      };
    case 'invalid':
      return {
        what: hold.what ?? 'The rollout policy is not valid',
        remedy: hold.errors.map(formatPolicyError).join(' '),
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
      return { what: 'The rollout is paused', remedy: words.unpause };
    case 'frozen':
      return {
        what: 'The budget is zero, so nothing is updated',
        remedy: `Raise ${words.maxUnavailable}.`,
      };
    case 'halted':
      return hold.halt.reason === 'RolledBack'
        ? {
            what: 'This revision was rolled back before and has been set again, so it is not rolled out',
            remedy: 'Set another template, or continue with this one: kubectl edgeset resume.',
          }
        : {
            what: `The rollout is halted: the target revision failed on ${hold.halt.nodes.join(', ')}`,
            remedy: 'Set a template that works, or continue with this one: kubectl edgeset resume.',
          };
    case 'waiting': {
      const { failures, suspects, threshold } = hold.breaker;
      return {
        what: `No further node is updated while ${plural(failures, 'failure')} and ${plural(suspects, 'suspect')} reach the threshold of ${threshold}`,
        remedy: 'Suspects that return and work are cleared; others become failures when the suspect window ends.',
      };
    }
  }
};
