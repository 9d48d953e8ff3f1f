export { cells, ENTRY, type FakeFleet, head, row, serveFleet } from './fleet-server.ts';
