import { crc32 } from 'node:zlib';

// A frame is one write: `CRC32 LENGTH JSON\n`, where JSON is an array of records. The JSON contains no newline, so reading
// can resume after a damaged frame; the length finds the end of a frame whose newline is damaged.
const NEWLINE = 0x0a;
const HEADER = /^([0-9a-f]{8}) (\d{1,9}) $/;
const LONGEST_HEADER = 8 + 1 + 9 + 1;

/** Encodes records, given as JSON texts, as one frame. A torn frame loses all of them; none was acknowledged. */
export const encodeFrame = (records: readonly string[]): Buffer => {
  const body = Buffer.from(`[${records.join(',')}]`);
  const sum = crc32(body).toString(16).padStart(8, '0');
  return Buffer.concat([Buffer.from(`${sum} ${body.length} `), body, Buffer.from('\n')]);
};

export interface Scan {
  /** One array of records per readable frame, in file order. */
  frames: unknown[][];
  /** Start and end of the last readable frame. */
  lastStart: number;
  end: number;
  /** After `end`, there is only a partial frame: its write was interrupted before it was acknowledged. */
  torn: boolean;
  /** Bytes that are neither readable nor part of a torn frame at the end. */
  damagedBytes: number;
}

interface Frame {
  records: unknown[];
  end: number;
}

/** The frame at `start`. Its newline is at `newline`, unless that byte is damaged. */
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

/** Reads all readable frames. */
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
