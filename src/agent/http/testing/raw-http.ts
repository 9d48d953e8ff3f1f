import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: string;
}

/** Sends bytes; resolves with everything received until the other side closes the connection. */
export const exchange = (socket: Socket, bytes: string | Uint8Array): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(bytes);
  });

/** `host:port`, or the path of a Unix socket. */
export const dial = (address: string): Socket => {
  if (address.startsWith('/')) return connect(address);
  const at = address.lastIndexOf(':');
  return connect(Number(address.slice(at + 1)), address.slice(0, at).replace(/^\[|\]$/g, ''));
};

/** Parses the responses in a byte stream; bodies by content-length. */
export const readAnswers = (text: string): RawAnswer[] => {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest.startsWith('HTTP/1.1 ')) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) break;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers.get('content-length') ?? 0);
    answers.push({ status: Number(first.split(' ')[1]), headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
};

/** Sends raw bytes and resolves with the responses. The request must ask to close the connection. */
export const sendRaw = async (address: string, bytes: string | Uint8Array): Promise<RawAnswer[]> =>
  readAnswers(await exchange(dial(address), bytes));

/** Sends one request with these lines, on a connection of its own. */
export const raw = (address: string, line: string, headers: string[] = [], body = ''): Promise<RawAnswer[]> =>
  sendRaw(address, [`${line} HTTP/1.1`, `Host: ${address}`, 'Connection: close', ...headers, '', body].join('\r\n'));
