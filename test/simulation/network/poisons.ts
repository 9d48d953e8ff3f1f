import type { Clock } from '../../../src/runtime/index.ts';
import type { Operation } from '../plan/plan.ts';

type Poison = Extract<Operation, { do: 'poison' }>;

/** An object of which a process cannot read one part. */
interface Dose {
  process: string;
  kind: string;
  object: Readonly<Record<string, unknown>>;
  /** Reading that part throws until then; undefined: the first time only. */
  until: number | undefined;
  thrownAt: number | undefined;
  /** The object has arrived once more, or faults are over. */
  replaced: boolean;
}

interface Armed {
  operation: Poison;
  onEffect: () => void;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const nameOf = (object: Fields): string => {
  const { namespace, name } = (object.metadata ?? {}) as Fields;
  return `${String(namespace)}/${String(name)}`;
};

/**
 * A manager that cannot compute something: reading one part of one object throws, at the place where its code happens to read it.
 * That is in a projection, a handler, the ledger or a decision, since some parts are kept as they are.
 */
export const createPoisons = (time: Pick<Clock, 'now'>) => {
  let armed: Armed[] = [];
  let doses: Dose[] = [];

  const isActive = ({ until, replaced }: Dose): boolean => !replaced && until !== undefined && until > time.now();

  /** The object with a part that throws; undefined if it has no such part. */
  const poisoned = (value: Fields, path: readonly string[], read: () => void): Fields | undefined => {
    const [name, ...rest] = path;
    if (name === undefined || value[name] === undefined) return undefined;
    const part = value[name];
    const inner = rest.length === 0 ? part : isFields(part) ? poisoned(part, rest, read) : undefined;
    if (inner === undefined) return undefined;
    const copy = { ...value };
    if (rest.length > 0) copy[name] = inner;
    else
      Object.defineProperty(copy, name, {
        enumerable: true,
        get() {
          read();
          return part;
        },
      });
    return copy;
  };

  const take = (process: string, object: Fields, kind: string): Fields => {
    const key = nameOf(object);
    for (const dose of doses)
      if (dose.process === process && dose.kind === kind && nameOf(dose.object) === key) dose.replaced = true;
    const next = armed.find(({ operation }) => operation.kind === kind);
    if (!next) return object;
    const { path, forMs } = next.operation;
    const dose: Dose = { process, kind, object, until: undefined, thrownAt: undefined, replaced: false };
    const result = poisoned(object, path.split('.'), () => {
      const now = time.now();
      if (dose.thrownAt !== undefined && !isActive(dose)) return;
      if (dose.thrownAt === undefined) {
        dose.thrownAt = now;
        if (forMs !== undefined) dose.until = now + forMs;
        next.onEffect();
      }
      throw new RangeError(`${kind} ${key} cannot be read at ${path}`);
    });
    if (!result) return object;
    armed = armed.filter((each) => each !== next);
    doses.push(dose);
    return result;
  };

  return {
    arm(operation: Poison, onEffect: () => void): void {
      armed.push({ operation, onEffect });
    },
    recover(): void {
      armed = [];
      for (const dose of doses) dose.replaced = true;
    },
    /** What a process gets of an event of a watch, or of a list. */
    read(process: string, value: unknown): unknown {
      if (armed.length === 0 && doses.length === 0) return value;
      if (!isFields(value)) return value;
      if (isFields(value.object) && typeof value.object.kind === 'string' && typeof value.type === 'string') {
        if (value.type === 'BOOKMARK') return value;
        return { ...value, object: take(process, value.object, value.object.kind) };
      }
      if (Array.isArray(value.items) && typeof value.kind === 'string') {
        const kind = value.kind.replace(/List$/, '');
        return {
          ...value,
          items: value.items.map((item: unknown) => (isFields(item) ? take(process, item, kind) : item)),
        };
      }
      return value;
    },
    /** What this process cannot read, for so long at least. */
    unreadable: (process: string, forMs: number): Dose[] =>
      doses.filter(
        (dose) =>
          dose.process === process &&
          dose.thrownAt !== undefined &&
          isActive(dose) &&
          time.now() - dose.thrownAt >= forMs,
      ),
    /** This process has read everything again: nothing was unreadable for so long. */
    isWell: (process: string, forMs: number): boolean =>
      doses.every(
        ({ process: of, thrownAt, until = thrownAt ?? 0, replaced }) =>
          of !== process ||
          thrownAt === undefined ||
          (replaced ? thrownAt : Math.max(thrownAt, until)) + forMs < time.now(),
      ),
  };
};
export type Poisons = ReturnType<typeof createPoisons>;
