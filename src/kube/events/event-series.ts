import type { Event, ObjectReference } from 'kubernetes-types/core/v1.d.ts';
import type { Env } from '../../runtime/index.ts';
import { plainText } from '../../text/index.ts';
import { toMicroTime, toTimestamp } from '../client/formats.ts';
import { createTimerHeap } from '../queue/timer-heap.ts';

export interface EventInput {
  regarding: ObjectReference;
  related?: ObjectReference;
  type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 characters. */
  reason: string;
  /** What was done or attempted; CamelCase, at most 128 characters. */
  action: string;
  /** Human-readable; truncated at 1,024 bytes. */
  note: string;
}

/** An event and its repetitions: one object on the server. */
export interface Series {
  readonly key: string;
  /** The key without the note. */
  readonly group: string;
  readonly namespace: string;
  name: string;
  readonly object: Omit<Event, 'metadata'>;
  count: number;
  lastAt: number;
  /** Whether the server has the object, and with which count. */
  written: boolean;
  writtenCount: number;
  nextWriteAt: number;
  intervalMs: number;
}

export interface EventSeries {
  add(input: EventInput): void;
  snapshot(one: Series): { object: Event; count: number; repeated: Pick<Event, 'series' | 'count' | 'lastTimestamp'> };
  wrote(one: Series, snapshot: { count: number }): void;
  /** Assigns a new object to the series because the server no longer has the old one. */
  rename(one: Series): void;
  forget(one: Series): void;
  stop(): void;
}

const NOTE_BYTES = 1024;
const FIELD_CHARS = 128;
const LONGEST_INTERVAL_MS = 600_000;
/** A repetition after this long is a new event. */
const SERIES_ENDS_MS = 360_000;
/** Distinct notes per object and reason; further ones count towards the newest series. */
const NOTES_PER_REASON = 10;
/** Series kept for repetitions; the oldest is dropped first. */
const MAX_SERIES = 4096;

/** Truncates a plain text to `bytes` of UTF-8 without splitting a character. */
export const truncateNote = (text: string, bytes: number = NOTE_BYTES): string => {
  const note = plainText(text);
  const encoded = Buffer.from(note, 'utf8');
  if (encoded.length <= bytes) return note;
  let end = bytes - 3;
  // A continuation byte starts with the bits 10.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${encoded.subarray(0, end).toString('utf8')}...`;
};

const refKey = (ref: ObjectReference | undefined): unknown[] =>
  ref ? [ref.apiVersion, ref.kind, ref.namespace, ref.name, ref.uid, ref.fieldPath] : [];

export const createEventSeries = (options: {
  env: Env;
  reportingController: string;
  reportingInstance: string;
  intervalMs: number;
  onDue: (one: Series) => void;
}): EventSeries => {
  const { env, reportingController, reportingInstance, onDue } = options;
  const byKey = new Map<string, Series>();
  const byReason = new Map<string, Series[]>();

  const due = createTimerHeap(env.clock, (key) => {
    const one = byKey.get(key);
    if (one === undefined) return;
    if (one.count > one.writtenCount) onDue(one);
    else if (one.lastAt + SERIES_ENDS_MS <= env.clock.now()) forget(one);
    else due.set(key, one.lastAt + SERIES_ENDS_MS);
  });

  const forget = (one: Series): void => {
    if (byKey.get(one.key) === one) byKey.delete(one.key);
    const { group } = one;
    const rest = (byReason.get(group) ?? []).filter((other) => other !== one);
    if (rest.length > 0) byReason.set(group, rest);
    else byReason.delete(group);
  };

  const reasonKey = ({ regarding, related, type, reason, action }: Omit<EventInput, 'note'>): string =>
    JSON.stringify([refKey(regarding), refKey(related), type, reason, action]);

  // Unique without asking the server: milliseconds and 32 random bits.
  const newName = (regarding: ObjectReference): string => {
    const unique = `${Math.floor(env.clock.now()).toString(16)}${Math.floor(env.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')}`;
    // Some kinds allow names that an Event may not have, such as `system:node`.
    const plain = (regarding.name ?? '').toLowerCase().replace(/[^a-z0-9.-]/g, '-');
    const base = plain.slice(0, 253 - unique.length - 1).replace(/^[^a-z0-9]+|(?<![^a-z0-9])[^a-z0-9]+$/g, '');
    return base === '' ? `event.${unique}` : `${base}.${unique}`;
  };

  const open = (key: string, group: string, input: EventInput): Series => {
    const now = env.clock.now();
    const namespace = input.regarding.namespace || 'default';
    const name = newName(input.regarding);
    const one: Series = {
      key,
      group,
      namespace,
      name,
      object: {
        eventTime: toMicroTime(now),
        firstTimestamp: toTimestamp(now),
        type: input.type,
        reason: input.reason.slice(0, FIELD_CHARS),
        action: input.action.slice(0, FIELD_CHARS),
        message: truncateNote(input.note),
        involvedObject: input.regarding,
        ...(input.related === undefined ? {} : { related: input.related }),
        reportingComponent: reportingController,
        reportingInstance: reportingInstance.slice(0, FIELD_CHARS),
      },
      count: 1,
      lastAt: now,
      written: false,
      writtenCount: 0,
      nextWriteAt: now,
      intervalMs: options.intervalMs,
    };
    byKey.set(key, one);
    byReason.set(group, [...(byReason.get(group) ?? []), one]);
    const oldest = byKey.values().next();
    if (byKey.size > MAX_SERIES && !oldest.done) forget(oldest.value);
    return one;
  };

  return {
    add(input) {
      const now = env.clock.now();
      const note = truncateNote(input.note);
      const group = reasonKey({
        ...input,
        reason: input.reason.slice(0, FIELD_CHARS),
        action: input.action.slice(0, FIELD_CHARS),
      });
      const key = JSON.stringify([group, note]);
      const siblings = byReason.get(group) ?? [];
      let one = byKey.get(key) ?? (siblings.length >= NOTES_PER_REASON ? siblings.at(-1) : undefined);
      if (one !== undefined && one.written && now - one.lastAt >= SERIES_ENDS_MS) {
        forget(one);
        one = undefined;
      }
      if (one === undefined) {
        onDue(open(key, group, input));
        return;
      }
      one.count += 1;
      one.lastAt = now;
      if (one.written) due.set(one.key, one.nextWriteAt);
    },
    snapshot(one) {
      const { count, lastAt } = one;
      const legacy = { count, lastTimestamp: toTimestamp(lastAt) };
      const repeated = { ...legacy, series: { count, lastObservedTime: toMicroTime(lastAt) } };
      const metadata = { name: one.name, namespace: one.namespace };
      return { count, repeated, object: { ...one.object, metadata, ...(count > 1 ? repeated : legacy) } };
    },
    wrote(one, { count }) {
      if (one.written) one.intervalMs = Math.min(LONGEST_INTERVAL_MS, one.intervalMs * 2);
      one.written = true;
      one.writtenCount = count;
      one.nextWriteAt = env.clock.now() + one.intervalMs;
      due.set(one.key, one.count > count ? one.nextWriteAt : one.lastAt + SERIES_ENDS_MS);
    },
    rename(one) {
      one.name = newName(one.object.involvedObject);
    },
    forget,
    stop() {
      due.stop();
      for (const one of byKey.values()) if (one.count > one.writtenCount) onDue(one);
    },
  };
};
