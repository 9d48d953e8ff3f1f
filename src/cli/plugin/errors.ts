import { type ClusterConfig, isKubeError, type KubeError, type KubeErrorCode } from '../../kube/index.ts';

/** What kept a command from its answer. */
export type CommandErrorCode =
  | 'Unreachable'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'NotInstalled'
  | 'BeingDeleted'
  | 'TimedOut'
  | 'Refused'
  | 'NoSuchRevision'
  | 'NothingToUndo'
  | 'ChoiceNeeded'
  | 'Changed';

/** A failure in one sentence for a person, with its cure. */
export class CommandError extends Error {
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CommandFailure';
    this.code = code;
  }
}

/** The first cause that says more than a wrapper around it, such as the system's own `connect ECONNREFUSED`. */
const reasonOf = (error: Error): string => {
  let { message } = error;
  for (let at: unknown = error.cause; at instanceof Error; at = at.cause) if (at.message !== '') message = at.message;
  return message;
};

// The client puts the request in front of what the server says, which helps whoever reads a log and nobody else.
const ownWords = (error: KubeError): string => error.message.replace(/^[A-Z]+ \/\S*: /, '');

type Wording = (error: KubeError, config: Pick<ClusterConfig, 'server' | 'context'>) => CommandError;

const RIGHT_CLUSTER = 'whether --kubeconfig and --context name the right cluster';

const wordings: Partial<Record<KubeErrorCode, Wording>> = {
  Transport: (error, { server }) =>
    new CommandError(
      'Unreachable',
      `cannot reach the API server ${server} (${reasonOf(error)}): see whether it runs, and ${RIGHT_CLUSTER}`,
      error,
    ),
  Timeout: (error, { server }) =>
    new CommandError(
      'Unreachable',
      `the API server ${server} does not answer: see whether it is overloaded, and ${RIGHT_CLUSTER}`,
      error,
    ),
  Unauthorized: (error, { context }) => {
    const of = context === undefined ? '' : ` of context ${context}`;
    const reason = error.cause instanceof Error ? error.cause.message : ownWords(error);
    return new CommandError(
      'Unauthorized',
      `the API server does not accept the credentials${of} (${reason}): log in again, or choose another --context`,
      error,
    );
  },
  Forbidden: (error) =>
    new CommandError(
      'Forbidden',
      `${ownWords(error)}: ask whoever runs the cluster for that right, or choose another --context`,
      error,
    ),
};

/** Puts what the client met into words for the person at the command line; other errors go through as they are. */
export const toCommandError = (error: unknown, config: Pick<ClusterConfig, 'server' | 'context'>): unknown => {
  if (!isKubeError(error)) return error;
  const wording = wordings[error.code];
  return wording
    ? wording(error, config)
    : new CommandError('Refused', `the API server refused: ${ownWords(error)}`, error);
};
