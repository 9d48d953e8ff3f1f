import { useRef, useState } from 'preact/hooks';
import { run } from '../api.ts';
import { text } from '../text/index.ts';
import { type CommandRequest, type CommandResult, planLimits, type RolloutHead } from '../types.ts';
import { consequenceOf } from '../view/stages.ts';

/** A command for the rollout that is shown. */
export type Asked = Pick<CommandRequest, 'command' | 'maxUnavailable' | 'partition' | 'stage' | 'revision'>;

const WRITES: ReadonlySet<string> = new Set(['pause', 'resume', 'set', 'undo', 'approve', 'promote']);

const Said = ({ result: { typed, failed, output } }: { result: CommandResult }) => (
  <>
    <code class="typed">{typed}</code>
    <pre
      class={failed ? 'bad' : ''}
      tabIndex={0}
      role="region"
      aria-label={text.command.output(typed.split(' ')[2] ?? '')}
    >
      {output}
    </pre>
  </>
);

/**
 * Runs the commands of `kubectl edgeset` with the user's rights, and shows what they say. One that writes first says what it would
 * change.
 */
export const useCommands = (head: RolloutHead) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [asked, setAsked] = useState<Asked | undefined>();
  /** The target when the user asked. */
  const [seen, setSeen] = useState('');
  const [results, setResults] = useState<readonly CommandResult[]>([]);
  const [comment, setComment] = useState('');
  const [error, setError] = useState('');
  const [isDone, setDone] = useState(false);
  const { namespace, name } = head;
  const kind = head.kind === 'ads' ? 'ads' : 'ds';

  const call = async (request: Asked, dryRun: boolean): Promise<void> => {
    setError('');
    const typed = (one: Asked, more: object): Promise<CommandResult> => run({ namespace, name, kind, ...one, ...more });
    try {
      const first = await typed(request, dryRun ? { dryRun } : {});
      setResults([first]);
      setDone(!dryRun);
      // What the manager would do then.
      if (request.command === 'set' && dryRun && !first.failed)
        setResults([first, await typed({ ...request, command: 'plan' }, {})]);
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
    }
  };
  const ask = (request: Asked): void => {
    setAsked(request);
    setSeen(head.target);
    setResults([]);
    setComment('');
    dialog.current?.showModal();
    void call(request, WRITES.has(request.command));
  };
  const step = head.stages?.steps.find((one) => one.name === asked?.stage);
  const isAccepted = asked !== undefined && WRITES.has(asked.command) && !isDone && results[0]?.failed === false;
  // A decision on a stage counts for one revision: nobody may give it for one that they have not looked at.
  const isOutdated = isAccepted && asked.stage !== undefined && head.target !== seen;
  const mustConfirm = isAccepted && !isOutdated;
  return {
    ask,
    dialog: (
      <dialog ref={dialog} aria-label={text.command.title} onClose={() => setAsked(undefined)}>
        {mustConfirm && step && <p>{consequenceOf(asked.command, step)}</p>}
        {results.map((result) => (
          <Said key={result.typed} result={result} />
        ))}
        {error !== '' && <p class="bad">{error}</p>}
        {isOutdated && <p class="bad">{text.command.outdated}</p>}
        {results.length === 0 && error === '' && <p class="soft">{text.command.asking}</p>}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (asked) void call({ ...asked, ...(comment.trim() !== '' && { comment: comment.trim() }) }, false);
          }}
        >
          {mustConfirm && step && (
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
          <div class="answers">
            {mustConfirm && (
              <button type="submit" class="main">
                {text.command.confirm}
              </button>
            )}
            <button type="button" onClick={() => dialog.current?.close()}>
              {mustConfirm ? text.command.cancel : text.command.close}
            </button>
          </div>
        </form>
      </dialog>
    ),
  };
};
