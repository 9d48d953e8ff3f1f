import { crc32 } from 'node:zlib';

// A frame is one write: `CRC32 LENGTH JSON\n`, JSON an array of records. JSON text holds no newline, so that reading can
// go on behind a damaged frame; the length finds the end of one whose newline is damaged.
const NEWLINE = 0x0a;
const HEADER = /^([0-9a-f]{8}) (\d{1,9}) $/;
const LONGEST_HEADER = 8 + 1 + 9 + 1;

/** One frame with records that are JSON texts already: a torn frame loses all of them, and they were all not answered. */
export const encodeFrame = (records: readonly string[]): Buffer => {
  const body = Buffer.from(`[${records.join(',')}]`);
  const sum = crc32(body).toString(16).padStart(8, '0');
  return Buffer.concat([Buffer.from(`${sum} ${body.length} `), body, Buffer.from('\n')]);
};

export interface Scan {
  /** One array of records a readable frame, in the order of the file. */
  frames: unknown[][];
  /** Where the last readable frame begins and ends. */
  lastStart: number;
  end: number;
  /** Behind `end` lies only the beginning of a frame: its write was cut short before it was answered. */
  torn: boolean;
  /** Bytes that are neither readable nor a torn end. */
  damagedBytes: number;
}

interface Frame {
  records: unknown[];
  end: number;
}

/** The frame at `start`, whose newline is at `newline` unless that byte is damaged. */
const frameAt = (bytes: Buffer, start: number, newline: number): Frame | undefined => {
  const head = bytes.toString('latin1', start, start + LONGEST_HEADER);
  const secondSpace = head.indexOf(' ', 9);
  const header = HEADER.exec(head.slice(0, secondSpace + 1));
  if (!header) return undefined;
  const body = start + header[0].length;
  const ends = [...(newline < 0 ? [] : [newline]), body + Number(header[2])];
  for (const end of ends) {
    if (end >= bytes.length || end <= body) continue;
    const slice = bytes.subarray(body, end);
    if (crc32(slice) !== Number.parseInt(header[1] ?? '', 16)) continue;
    const records: unknown = JSON.parse(slice.toString());
    if (Array.isArray(records)) return { records, end: end + 1 };
  }
  return undefined;
};

/** Reads whatever of a journal's bytes can be read. */
export const scanFrames = (bytes: Buffer): Scan => {
  const scan: Scan = { frames: [], lastStart: 0, end: 0, torn: false, damagedBytes: 0 };
  let at = 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const frame = frameAt(bytes, at, newline);
    if (frame) {
      if (bytes[frame.end - 1] !== NEWLINE) scan.damagedBytes += 1;
      scan.frames.push(frame.records);
      scan.lastStart = at;
      at = frame.end;
      scan.end = at;
      continue;
    }
    const rest = bytes.subarray(at);
    if (newline < 0 || rest.every((byte) => byte === 0)) {
      scan.torn = true;
      return scan;
    }
    scan.damagedBytes += newline + 1 - at;
    at = newline + 1;
  }
  return scan;
};
