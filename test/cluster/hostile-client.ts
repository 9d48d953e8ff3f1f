// Holds connections to a dashboard: PORT ADDRESSES CONNECTIONS PATH. Half of them send a request of the path, and half 30 at once;
// none reads a response. One that is closed is opened again. Prints how many are open, and how many were opened, each second.

import { connect } from 'node:net';
import { connect as secure } from 'node:tls';

const [port = '', addresses = '', connections = '', path = ''] = process.argv.slice(2);
const PIPELINED = 30;
const AGAIN_MS = 200;
let [open, opened] = [0, 0];

const attack = (times: number, localAddress: string): void => {
  const below = connect({ port: Number(port), host: '127.0.0.1', localAddress });
  below.on('error', () => undefined);
  const socket = secure({ socket: below, rejectUnauthorized: false });
  let isOpen = false;
  socket.on('secureConnect', () => {
    isOpen = true;
    open += 1;
    opened += 1;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(times));
    socket.pause();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (isOpen) open -= 1;
    setTimeout(() => attack(times, localAddress), AGAIN_MS);
  });
};
const from = addresses.split(',');
for (let count = 0; count < Number(connections); count += 1)
  attack(count % 2 === 0 ? 1 : PIPELINED, from[count % from.length] ?? '');
setInterval(() => console.log(JSON.stringify({ open, opened })), 1_000);
