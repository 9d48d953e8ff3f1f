import { addUndoCommand } from '../commands.ts';
import { runProgram } from '../program.ts';
import { addApproveCommand } from '../stage-commands.ts';
import { DemoFailure } from './environment.ts';

/** Runs a command of `kubectl edgeset` in this process, as the user would type it. Rejects with a `DemoFailure` unless it succeeds. */
export const runEdgeset = async (
  args: readonly string[],
  { kubeconfig, random }: { kubeconfig: string; random: () => number },
): Promise<void> => {
  let output = '';
  const print = (text: string): void => void (output += text);
  const code = await runProgram([...args, `--kubeconfig=${kubeconfig}`], {
    name: 'kubectl edgeset',
    io: { environment: {}, random, stdout: print, stderr: print, terminal: false },
    build(program, context) {
      for (const add of [addUndoCommand, addApproveCommand]) add(program, context);
    },
  });
  if (code !== 0)
    throw new DemoFailure(`expected "kubectl edgeset ${args.join(' ')}" to succeed; saw ${output.trim() || code}`);
};
