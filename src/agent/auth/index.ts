export {
  type Authenticator,
  type AuthOptions,
  type AuthResult,
  createAuthenticator,
  type RefusalReason,
} from './authenticate.ts';
export { createPeers, type Peer, type Peers } from './peer.ts';
export { loadPeerCredentials, type PeerCredentials } from './peer-credentials.ts';
export { isLoopback } from './socket-table.ts';
export { openTokenFile, type TokenFile } from './token-file.ts';
export { resolveUsers } from './users.ts';
