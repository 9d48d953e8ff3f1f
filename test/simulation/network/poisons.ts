import type { Clock } from '../../../src/runtime/index.ts';
import type { Operation } from '../plan/plan.ts';

type Poison = Extract<Operation, { do: 'poison' }>;

/** Who reads. Each part of a manager has its own caches: what one of them cannot read another one may. */
export interface Reader {
  process: string;
  /** Undefined for agents. */
  part: string | undefined;
}

/** An object of which a reader cannot read one part. */
export interface Dose extends Reader {
  kind: string;
  /** As it arrived last. */
  object: Readonly<Record<string, unknown>>;
  path: string;
  /** From a list or a watch, which bring an object once and again when it changes; `get`: read for one decision. */
  via: 'watch' | 'get';
  /** Reading that part throws until then; undefined: the first time only. */
  until: number | undefined;
  thrownAt: number | undefined;
  /** When the object arrived once more or was deleted, or faults ended. */
  replacedAt: number | undefined;
}

interface Armed {
  operation: Poison;
  onEffect: () => void;
  /** Reads that are still to pass. */
  left: number;
  struck: Dose | undefined;
}

interface Arrival {
  dose: Dose;
  from: Armed;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const nameOf = (object: Fields): string => {
  const { namespace, name } = (object.metadata ?? {}) as Fields;
  return `${String(namespace)}/${String(name)}`;
};

/** The caches of managers accept responses of these kinds: the object has arrived once more. */
const ACCEPTED: ReadonlySet<string> = new Set(['Pod', 'DaemonSet']);

/** Without its metadata an object has no name, by which any error is told. */
const NOT_ALONE = 'metadata';

/** The object with a part that calls `read` first, or with as much of its path as there is; undefined: there is none of it. */
const guarded = (value: Fields, [name, ...rest]: readonly string[], read: () => void): Fields | undefined => {
  if (name === undefined || value[name] === undefined) return undefined;
  const part = value[name];
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Fields;
  const inner = rest.length > 0 && isFields(part) ? guarded(part, rest, read) : undefined;
  if (!inner && name === NOT_ALONE) return undefined;
  if (inner) copy[name] = inner;
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

/**
 * A manager or an agent that cannot compute something: reading one part of one object throws, at the place where its code happens
 * to read it. That is in a projection, a handler, the ledger, a decision or the view of a plan, since some parts are kept as they are.
 */
export const createPoisons = (time: Pick<Clock, 'now'>) => {
  let armed: Armed[] = [];
  const tried = new Set<Poison>();
  let doses: Dose[] = [];
  /** The last arrival of each object, for each reader: nothing else of it is needed any more. */
  const arrivals = new Map<string, Arrival>();

  const isActive = ({ until, replacedAt }: Dose): boolean =>
    replacedAt === undefined && until !== undefined && until > time.now();

  const read = ({ dose, from }: Arrival): void => {
    const now = time.now();
    if (from.struck === undefined) {
      if (dose.replacedAt !== undefined) return;
      from.left -= 1;
      if (from.left >= 0) return;
      armed = armed.filter((each) => each !== from);
      from.struck = dose;
      doses.push(dose);
      dose.thrownAt = now;
      if (from.operation.forMs !== undefined) dose.until = now + from.operation.forMs;
      from.onEffect();
    } else if (from.struck !== dose || !isActive(dose)) return;
    throw new RangeError(`${dose.kind} ${nameOf(dose.object)} cannot be read at ${dose.path}`);
  };

  const guard = (object: Fields, arrival: Arrival): Fields | undefined =>
    guarded(object, arrival.dose.path.split('.'), () => read(arrival));

  const keyOf = ({ process, part }: Reader, object: Fields, kind: string, via: Dose['via']): string =>
    `${process} ${part} ${via} ${kind} ${nameOf(object)}`;

  const end = (key: string): void => {
    const arrival = arrivals.get(key);
    if (arrival) arrival.dose.replacedAt ??= time.now();
    arrivals.delete(key);
  };

  const take = (reader: Reader, object: Fields, kind: string, via: Dose['via']): Fields => {
    const key = keyOf(reader, object, kind, via);
    const before = arrivals.get(key);
    if (before?.from.operation.stays && isActive(before.dose)) {
      before.dose.object = object;
      return guard(object, before) ?? object;
    }
    end(key);
    const by = reader.part === undefined ? 'agent' : 'manager';
    const from = armed.find(({ operation }) => operation.kind === kind && (operation.by ?? 'manager') === by);
    if (!from) return object;
    const { path } = from.operation;
    const at = { until: undefined, thrownAt: undefined, replacedAt: undefined };
    const arrival: Arrival = { from, dose: { ...reader, kind, object, path, via, ...at } };
    const result = guard(object, arrival);
    if (!result) return object;
    arrivals.set(key, arrival);
    return result;
  };

  return {
    /** One that waits too long for the reads that are to pass is armed again: then none pass any more. */
    arm(operation: Poison, onEffect: () => void): void {
      armed.push({ operation, onEffect, left: tried.has(operation) ? 0 : (operation.skip ?? 0), struck: undefined });
      tried.add(operation);
    },
    recover(): void {
      armed = [];
      for (const dose of [...doses, ...arrivals.values().map((arrival) => arrival.dose)])
        dose.replacedAt ??= time.now();
    },
    /** What a process gets of an event of a watch, of a list, or of one object. */
    read(reader: Reader, value: unknown): unknown {
      if ((armed.length === 0 && arrivals.size === 0) || !isFields(value)) return value;
      if (isFields(value.object) && typeof value.object.kind === 'string' && typeof value.type === 'string') {
        if (value.type === 'DELETED') end(keyOf(reader, value.object, value.object.kind, 'watch'));
        if (value.type === 'BOOKMARK' || value.type === 'DELETED') return value;
        return { ...value, object: take(reader, value.object, value.object.kind, 'watch') };
      }
      if (Array.isArray(value.items) && typeof value.kind === 'string') {
        const kind = value.kind.replace(/List$/, '');
        return {
          ...value,
          items: value.items.map((item: unknown) => (isFields(item) ? take(reader, item, kind, 'watch') : item)),
        };
      }
      if (typeof value.kind !== 'string' || !isFields(value.metadata)) return value;
      if (reader.part !== undefined && ACCEPTED.has(value.kind)) end(keyOf(reader, value, value.kind, 'watch'));
      return take(reader, value, value.kind, 'get');
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
    /** What this process could not read within so long a time. */
    unwell: (process: string, forMs: number): Dose[] =>
      doses.filter(
        ({ process: of, thrownAt, until = thrownAt ?? 0, replacedAt = until }) =>
          of === process && thrownAt !== undefined && Math.min(until, replacedAt) + forMs >= time.now(),
      ),
  };
};
export type Poisons = ReturnType<typeof createPoisons>;
