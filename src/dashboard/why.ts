import { explainHold } from '../rollout/index.ts';
import { failureText } from '../view/index.ts';
import type { DaemonRolloutStatus } from '../words/index.ts';

/** The state says these sentences already. */
const SAID = [{ kind: 'invalid', errors: [] } as const, { kind: 'frozen' } as const].map(
  (hold) => `${explainHold(hold).what}. `,
);

/** What holds the rollout: what failed, or the first condition that says so. */
export const whyOf = (status: DaemonRolloutStatus): string => {
  const { conditions = [] } = status;
  const held = ['Stalled', 'Paused'].flatMap((wanted) =>
    conditions.filter(({ type, status: is }) => type === wanted && is === 'True'),
  );
  const [first] = held;
  const isFailed = conditions.some(
    ({ type, status: is, reason }) => type === 'Halted' && is === 'True' && reason === 'Failures',
  );
  const failure = isFailed ? failureText(status) : '';
  if (failure !== '' || !first) return failure;
  const said = SAID.find((sentence) => first.message.startsWith(sentence)) ?? '';
  return first.message.slice(said.length);
};
