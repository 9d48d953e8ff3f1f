export { cells, type FakeFleet, head, KEY, row, serveFleet } from './fleet-server.ts';
export { openAddress } from './open-address.ts';
