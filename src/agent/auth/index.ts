export { type AuthOptions, type AuthResult, createAuthenticator } from './authenticate.ts';
export { createPeers, loadPeerCredentials, type Peer, type Peers } from './peer.ts';
export { isLoopback } from './socket-table.ts';
export { openTokenFile, type TokenFile } from './token-file.ts';
export { resolveUsers } from './users.ts';
