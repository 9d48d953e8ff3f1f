import { crc32 } from 'node:zlib';
import { asJournalError, JournalError } from './errors.ts';
import type { JournalFiles } from './files.ts';
import { scanFrames } from './frames.ts';
import type { JournalState } from './journal.ts';

/** The first record of every journal: what the file is, and the version of its frames. */
export const FORMAT = { format: 'edgeset-journal', version: 1 } as const;

export interface Loaded {
  exists: boolean;
  /** Shows whether the file has changed since it was read. */
  fingerprint: string;
  /** Up to the end of the last readable frame. */
  length: number;
  /** The last readable frame. */
  last: { bytes: Buffer; position: number };
  /** After `length`, there is a partial frame that was never acknowledged. */
  torn: boolean;
  /** The whole file, if some of it was unreadable. */
  damaged: Buffer | undefined;
  damage: string | undefined;
}

const isFormat = (record: unknown): record is { format: unknown; version: unknown } =>
  typeof record === 'object' && record !== null && 'format' in record && 'version' in record;

const checkFormat = (file: string, record: unknown): void => {
  if (!isFormat(record) || (record.format === FORMAT.format && record.version === FORMAT.version)) return;
  throw new JournalError(
    'UnknownFormat',
    `${file} has format ${String(record.format)} ${String(record.version)}, which this version cannot read: run the version that wrote it, or move the file away and lose its content`,
  );
};

/** Equal for equal bytes. */
export const fingerprintOf = (bytes: Buffer | undefined): string =>
  bytes ? `${bytes.length} ${crc32(bytes)}` : 'missing';

/** Reads the file and applies every readable record. */
export const loadJournal = async (file: string, files: JournalFiles, state: JournalState): Promise<Loaded> => {
  let bytes: Buffer | undefined;
  try {
    bytes = await files.read(file);
  } catch (error) {
    throw asJournalError(error, `cannot read ${file}`);
  }
  if (!bytes) {
    const last = { bytes: Buffer.alloc(0), position: 0 };
    return {
      exists: false,
      fingerprint: fingerprintOf(bytes),
      length: 0,
      last,
      torn: false,
      damaged: undefined,
      damage: undefined,
    };
  }
  const scan = scanFrames(bytes);
  const [first] = scan.frames;
  checkFormat(file, first?.[0]);
  let unknown = 0;
  for (const record of scan.frames.flat()) if (!isFormat(record) && !state.apply(record)) unknown += 1;
  const causes = [
    ...(scan.damagedBytes > 0 ? [`${scan.damagedBytes} bytes cannot be read`] : []),
    ...(unknown > 0 ? [`${unknown} records are unknown`] : []),
    ...(isFormat(first?.[0]) ? [] : ['its beginning is missing']),
  ];
  const damaged = causes.length > 0;
  return {
    exists: true,
    fingerprint: fingerprintOf(bytes),
    length: scan.end,
    last: { bytes: Buffer.from(bytes.subarray(scan.lastStart, scan.end)), position: scan.lastStart },
    torn: scan.torn,
    damaged: damaged ? bytes : undefined,
    damage: damaged ? `${file} is damaged (${causes.join(', ')}); the rest of it is in use` : undefined,
  };
};
