import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';

/** Runs a client of the cluster and resolves with its output; rejects with its error output when it fails. */
export const runClient = async (
  file: string,
  kubeconfig: string,
  args: readonly string[],
  input = '',
): Promise<string> => {
  const child = spawn(file, args, { env: { ...process.env, KUBECONFIG: kubeconfig } });
  // One that ends without reading says why itself.
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${basename(file)} ${args.join(' ')} ended with ${code}: ${error}`);
  return out;
};

export const kubectl = (kubeconfig: string, args: readonly string[], input = ''): Promise<string> =>
  runClient('kubectl', kubeconfig, args, input);

export const kubectlApply = (kubeconfig: string, object: object): Promise<string> =>
  kubectl(kubeconfig, ['apply', '-f', '-'], JSON.stringify(object));
