import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { Problem } from './types.ts';

/** More samples are a query that forgot to aggregate, and their evaluation would take long. */
export const MAX_SAMPLES = 100;

// The author of a plan must not be able to occupy the manager: a condition is short, a loop has no loop within, and there are no texts,
// whose patterns could take for ever.
const LIMITS = { maxAstNodes: 64, maxDepth: 20, maxListElements: 50, maxMapEntries: 0, maxCallArguments: 4 };
const LOOPS: ReadonlySet<unknown> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
const FUNCTIONS: ReadonlySet<unknown> = new Set([...LOOPS, 'size', 'double', 'int']);

let environment: Environment | undefined;

const createEnvironment = (): Environment =>
  new Environment({ unlistedVariablesAreDyn: false, limits: LIMITS }).registerVariable('result', 'list<double>');

const isNode = (value: unknown): value is ASTNode => typeof value === 'object' && value !== null && 'op' in value;

const childrenOf = ({ args }: ASTNode): ASTNode[] =>
  (Array.isArray(args) ? (args as unknown[]) : [args]).flatMap((each) =>
    isNode(each) ? [each] : Array.isArray(each) ? (each as unknown[]).filter(isNode) : [],
  );

/** What the expression may not use; undefined: it may use all that it does. */
const forbidden = (node: ASTNode, inLoop = false): string | undefined => {
  const name = node.op === 'call' || node.op === 'rcall' ? node.args[0] : undefined;
  if (name !== undefined && !FUNCTIONS.has(name)) return `the function ${name}`;
  const isLoop = LOOPS.has(name);
  if (isLoop && inLoop) return `${String(name)} within another loop`;
  for (const child of childrenOf(node)) {
    const found = forbidden(child, inLoop || isLoop);
    if (found !== undefined) return found;
  }
  return undefined;
};

export type Condition =
  | { ok: true; evaluate: (result: readonly number[]) => { value: boolean } | { problem: string } }
  | ({ ok: false } & Problem);

/** The library's message, without its drawing of the place. */
const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
};

const bad = (problem: string, remedy: string): Condition => ({ ok: false, problem, remedy });

/** Compiles a CEL expression over `result`, the list of a query's values. */
export const compileCondition = (expression: string): Condition => {
  environment ??= createEnvironment();
  let program: ParseResult;
  let checked: ReturnType<ParseResult['check']>;
  try {
    program = environment.parse(expression);
    checked = program.check();
  } catch (error) {
    return bad(`is not a CEL expression (${reasonOf(error)})`, 'write one such as result.all(r, r < 0.05)');
  }
  const unwanted = forbidden(program.ast);
  if (unwanted !== undefined)
    return bad(`uses ${unwanted}, which conditions can't`, `use the functions ${[...FUNCTIONS].join(', ')}`);
  const { valid, type = 'dyn', error } = checked;
  if (!valid) {
    const isNumber = /double|int/.test(reasonOf(error));
    return bad(
      `is wrong (${reasonOf(error)})`,
      isNumber ? 'write numbers as 1.0, because values are doubles' : 'the values of the samples are in result',
    );
  }
  if (type !== 'bool' && type !== 'dyn')
    return bad(`is of type ${type}`, 'compare, so that it is true or false, as in result.all(r, r < 0.05)');
  return {
    ok: true,
    evaluate(result) {
      try {
        const value: unknown = program({ result });
        return typeof value === 'boolean' ? { value } : { problem: 'it is neither true nor false' };
      } catch (cause) {
        return { problem: reasonOf(cause) };
      }
    },
  };
};
