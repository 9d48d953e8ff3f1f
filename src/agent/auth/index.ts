export {
  type Authenticator,
  type AuthOptions,
  type AuthResult,
  createAuthenticator,
  type RefusalReason,
} from './authenticate.ts';
export { createPeers, loadPeerCredentials, type Peer, type PeerCredentials, type Peers } from './peer.ts';
export { isLoopback } from './socket-table.ts';
export { openTokenFile, type TokenFile } from './token-file.ts';
export { resolveUsers } from './users.ts';
