import { useRef, useState } from 'preact/hooks';
import { run } from '../../api.ts';
import { isOld } from '../../store.ts';
import { text } from '../../text/index.ts';
import { type CommandRequest, type CommandResult, planLimits, type RolloutHead } from '../../types.ts';
import { type Asked, effectsOf, isDangerous, verbOf } from '../../view/effects.ts';
import { AsCommand, Changes, Preview } from './command-result.tsx';

export type { Asked } from '../../view/effects.ts';

const WRITES: ReadonlySet<CommandRequest['command']> = new Set([
  'pause',
  'resume',
  'set',
  'undo',
  'approve',
  'promote',
]);
/** They count for one revision: nobody may confirm them for one that they have not looked at. */
const ABOUT_TARGET: ReadonlySet<CommandRequest['command']> = new Set(['resume', 'undo', 'approve', 'promote']);

/** What the API server, or the manager's own rule, answered. */
interface Answer {
  result: CommandResult;
  /** What the manager would do then. */
  plan?: CommandResult;
  isDone: boolean;
}

interface Question {
  asked: Asked;
  /** The rollout when the user asked. */
  head: RolloutHead;
}

const Answered = ({ question: { asked, head }, answer }: { question: Question; answer: Answer }) => {
  const { result, plan, isDone } = answer;
  const { output, notes, changes = [], failed, isSame = false } = result;
  if (failed)
    return (
      <p class="refusal bad" role="alert">
        {output.trim()}
      </p>
    );
  if (result.plan) return <Preview title={text.command.preview} lines={result.plan} />;
  const isPrinted = isDone || isSame;
  const effects = [...(isPrinted ? [] : effectsOf(asked, head)), ...notes];
  return (
    <>
      {isPrinted && (
        <p class="done" role="status">
          {output.split('\n', 1)[0]}
        </p>
      )}
      {!isPrinted && changes.length > 0 && <Changes changes={changes} />}
      {effects.length > 0 && (
        <ul class="effects">
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
      )}
      {plan?.plan && !isDone && (
        <details class="preview" open>
          <summary>{text.command.preview}</summary>
          <Preview title={text.command.preview} lines={plan.plan} />
        </details>
      )}
    </>
  );
};

/**
 * Runs the commands of `kubectl edgeset` with the user's rights, and shows what they say. One that writes first says what it would
 * change.
 */
export const useCommands = (head: RolloutHead) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [question, setQuestion] = useState<Question | undefined>();
  const [answer, setAnswer] = useState<Answer | undefined>();
  const [comment, setComment] = useState('');
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  /** Counts the questions: what answers an older one is dropped. */
  const asking = useRef(0);
  const { cluster, namespace, name } = head;
  const kind = head.kind === 'ads' ? 'ads' : 'ds';

  const call = async (asked: Asked, dryRun: boolean): Promise<void> => {
    const own = asking.current;
    const isOpen = (): boolean => own === asking.current;
    setError('');
    setBusy(true);
    const send = (one: Asked, more: object): Promise<CommandResult> =>
      run({ cluster, namespace, name, kind, ...one, ...more });
    try {
      const result = await send(asked, dryRun ? { dryRun } : {});
      const isAccepted = asked.command === 'set' && dryRun && !result.failed && !result.isSame;
      const plan = isAccepted ? await send({ ...asked, command: 'plan' }, {}) : undefined;
      if (isOpen()) setAnswer({ result, isDone: !dryRun && !result.failed, ...(plan && { plan }) });
    } catch (reason) {
      if (isOpen()) setError(reason instanceof Error ? reason.message : String(reason));
    } finally {
      if (isOpen()) setBusy(false);
    }
  };
  const ask = (asked: Asked): void => {
    asking.current += 1;
    setQuestion({ asked, head });
    setAnswer(undefined);
    setComment('');
    dialog.current?.showModal();
    void call(asked, WRITES.has(asked.command));
  };
  const close = (): void => {
    asking.current += 1;
    setQuestion(undefined);
  };
  const asked = question?.asked;
  const isAccepted =
    asked !== undefined &&
    WRITES.has(asked.command) &&
    answer !== undefined &&
    !answer.isDone &&
    !answer.result.failed &&
    !answer.result.isSame;
  const isOutdated = isAccepted && ABOUT_TARGET.has(asked.command) && head.target !== question?.head.target;
  const mustConfirm = isAccepted && !isOutdated;
  const verb = question && verbOf(question.asked, question.head);
  return {
    ask,
    dialog: (
      <dialog ref={dialog} aria-labelledby="command" onClose={close}>
        <h2 id="command" class="dialog-head">
          {verb?.title ?? text.command.title}
        </h2>
        {question && answer && <Answered question={question} answer={answer} />}
        {error !== '' && (
          <p class="refusal bad" role="alert">
            {error}
          </p>
        )}
        {isOutdated && <p class="refusal bad">{text.command.outdated}</p>}
        {!answer && error === '' && <p class="soft">{text.command.asking}</p>}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (asked) void call({ ...asked, ...(comment.trim() !== '' && { comment: comment.trim() }) }, false);
          }}
        >
          {mustConfirm && asked.stage !== undefined && (
            <label>
              {text.command.comment}
              <input
                value={comment}
                maxLength={planLimits.comment}
                placeholder={text.command.commentHint}
                onInput={(event) => setComment(event.currentTarget.value)}
              />
            </label>
          )}
          {answer && <AsCommand typed={answer.result.typed} />}
          <div class="answers">
            <button type="button" onClick={() => dialog.current?.close()}>
              {mustConfirm ? text.command.cancel : text.command.close}
            </button>
            {mustConfirm && question && (
              <button
                type="submit"
                class={isDangerous(asked, question.head) ? 'danger' : 'main'}
                disabled={isBusy || isOld.value}
              >
                {verb?.button}
              </button>
            )}
          </div>
        </form>
      </dialog>
    ),
  };
};
