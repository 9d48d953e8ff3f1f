import { badRequest, StatusError } from '../errors.ts';
import { arrayOf, equal, isRecord, type Json, recordOf, textOf } from '../json.ts';

/** RFC 7386: null removes a field, objects merge, everything else replaces. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const base = isRecord(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else result[key] = mergePatch(base[key], value);
  }
  return result;
};

// The API server's limit.
const MOST_OPERATIONS = 10_000;

/** The server reports no details; in-process callers find them in the cause. */
const cannot = (why: string): StatusError =>
  Object.assign(new StatusError('Invalid', 'the server rejected our request due to an error in our request', {}), {
    cause: new Error(why),
  });

const unescape = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

type Container = Record<string, unknown> | unknown[];

/** The document is the only field of the outermost container, so that a path may also lead to the whole of it. */
const ROOT = 'document';

const stepsOf = (path: string): string[] => [ROOT, ...path.split('/').slice(1).map(unescape)];

/** Marks a missing value. */
const MISSING = Symbol('missing');

const read = (document: unknown, steps: readonly string[]): unknown => {
  let here = document;
  for (const step of steps) {
    if (Array.isArray(here)) {
      const index = indexOf(here, step, false);
      here = index === undefined ? MISSING : arrayOf(here)[index];
    } else if (isRecord(here)) here = Object.hasOwn(here, step) && here[step] !== undefined ? here[step] : MISSING;
    else return MISSING;
  }
  return here;
};

/** As on the real server, and unlike RFC 6901, a number may have a sign and zeros; a negative one counts from the end. */
const indexOf = (list: readonly unknown[], step: string, mayAppend: boolean): number | undefined => {
  if (mayAppend && step === '-') return list.length;
  if (!/^[+-]?\d+$/.test(step)) return undefined;
  const end = list.length + (mayAppend ? 1 : 0);
  const index = Number(step) < 0 ? end + Number(step) : Number(step);
  return index >= 0 && index < end ? index : undefined;
};

/** The container that the last step of a path leads into. */
const containerOf = (document: unknown, steps: readonly string[], fail: () => Error): Container => {
  const container = read(document, steps.slice(0, -1));
  if (Array.isArray(container) || isRecord(container)) return container as Container;
  throw fail();
};

/** Adds or replaces a value. As on the real server, replacing a missing field adds it. */
const put = (document: unknown, steps: readonly string[], value: unknown, adds: boolean, fail: () => Error): void => {
  const container = containerOf(document, steps, fail);
  const step = steps.at(-1) ?? '';
  if (!Array.isArray(container)) {
    container[step] = value;
    return;
  }
  const index = indexOf(container, step, adds);
  if (index === undefined) throw fail();
  container.splice(index, adds ? 0 : 1, value);
};

const remove = (document: unknown, steps: readonly string[], fail: () => Error): void => {
  if (read(document, steps) === MISSING) throw fail();
  const container = containerOf(document, steps, fail);
  const step = steps.at(-1) ?? '';
  if (Array.isArray(container)) container.splice(indexOf(container, step, false) ?? 0, 1);
  else delete container[step];
};

const apply = (document: Container, operation: Json): void => {
  const op = textOf(operation.op);
  const path = textOf(operation.path);
  const from = textOf(operation.from);
  const steps = stepsOf(path);
  const missing = (which: string) => (): Error =>
    cannot(`${op} operation does not apply: doc is missing ${which}: missing value`);
  const lacksPath = missing(`path: ${JSON.stringify(path)}`);
  // The whole document can be replaced and tested only.
  if (!path.includes('/') && !(path === '' && (op === 'replace' || op === 'test'))) throw lacksPath();
  switch (op) {
    case 'add':
      return put(document, steps, operation.value, true, lacksPath);
    case 'replace':
      return put(document, steps, operation.value, false, missing(`key: ${path}`));
    case 'remove':
      return remove(document, steps, lacksPath);
    case 'move':
    case 'copy': {
      const lacksFrom = missing(`from path: ${JSON.stringify(from)}`);
      if (!from.includes('/')) throw lacksFrom();
      const value = read(document, stepsOf(from));
      // As on the real server, the copy of a missing field is null.
      const isNull = op === 'copy' && value === MISSING && isRecord(containerOf(document, stepsOf(from), lacksFrom));
      if (value === MISSING && !isNull) throw lacksFrom();
      if (op === 'move') remove(document, stepsOf(from), lacksFrom);
      return put(document, steps, isNull ? null : structuredClone(value), true, lacksPath);
    }
    case 'test': {
      // A missing field is null, and a path that leads nowhere is an error.
      containerOf(document, steps, lacksPath);
      const value = read(document, steps);
      if (equal(value === MISSING ? undefined : value, operation.value)) return;
      throw cannot(`testing value ${path} failed: test failed`);
    }
    default:
      throw cannot(`there is no operation ${JSON.stringify(op)}: use add, remove, replace, move, copy or test`);
  }
};

/** RFC 6902, all or nothing. */
export const jsonPatch = (document: Json, patch: unknown): Json => {
  if (!Array.isArray(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  if (patch.length > MOST_OPERATIONS)
    throw new StatusError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
    );
  const root = { [ROOT]: structuredClone(document) };
  for (const operation of patch as unknown[]) apply(root, structuredClone(recordOf(operation)));
  return recordOf(root[ROOT]);
};
