import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Caller, Reauthorize } from '../types.ts';
import type { Peer } from './peer.ts';
import type { TokenFile } from './token-file.ts';

export interface AuthOptions {
  /** Local users that are allowed to call. */
  allowedUids: ReadonlySet<number>;
  /** Undefined: bearer tokens are ignored. */
  tokens: TokenFile | undefined;
  /** Whether to accept client certificates of the trusted CA. */
  clientCertificates: boolean;
}

/** Why a caller was refused, for programs. */
export type RefusalReason = 'MissingCredentials' | 'WrongToken' | 'WrongCertificate' | 'WrongUser' | 'UnknownCaller';

export type AuthResult =
  | { kind: 'caller'; caller: Caller; reauthorize: Reauthorize }
  | { kind: 'refused'; status: 401 | 403; reason: RefusalReason; message: string };

export type Authenticator = (request: IncomingMessage, peer: Peer) => Promise<AuthResult>;

const refused = (status: 401 | 403, reason: RefusalReason, message: string): AuthResult => ({
  kind: 'refused',
  status,
  reason,
  message,
});

const bearerOf = (request: IncomingMessage): string | undefined => {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1] ?? '';
};

/** The client certificate, and whether the trusted CA issued it; undefined without a certificate. */
const certificateOf = (request: IncomingMessage): { name: string; trusted: boolean; endsAt: number } | undefined => {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const name = /^CN=(.+)$/m.exec(certificate.subject)?.[1] ?? certificate.fingerprint256;
  return { name: name.slice(0, 128), trusted: socket.authorized, endsAt: certificate.validToDate.getTime() };
};

/**
 * Authenticates callers. If a caller presents a token or certificate, only that counts, so a wrong one is refused even from
 * an allowed user. Without one, a local caller is identified by its user.
 */
export const createAuthenticator = (
  { allowedUids, tokens, clientCertificates }: AuthOptions,
  now: () => number,
): Authenticator => {
  const withCredentials = tokens !== undefined || clientCertificates;

  const byToken = (file: TokenFile, token: string): AuthResult => {
    const name = file.nameOf(token);
    if (name === undefined) return refused(403, 'WrongToken', 'unknown bearer token');
    const reauthorize: Reauthorize = () =>
      Promise.resolve(file.nameOf(token) === name ? undefined : 'the bearer token was revoked meanwhile');
    return { kind: 'caller', caller: { identity: `token:${name}`, via: 'token' }, reauthorize };
  };

  const byUser = async (peer: Peer): Promise<AuthResult> => {
    const uid = await peer.uid;
    if (uid !== undefined && allowedUids.has(uid)) {
      const reauthorize: Reauthorize = async () => {
        const current = await peer.recheck();
        return current === uid ? undefined : 'the caller has gone or can no longer be identified';
      };
      const via = peer.via === 'unix' ? 'unix' : 'loopback';
      return { kind: 'caller', caller: { identity: `uid:${uid}`, via }, reauthorize };
    }
    if (withCredentials)
      return refused(401, 'MissingCredentials', 'missing credentials: send a bearer token or a client certificate');
    if (uid === undefined) return refused(403, 'UnknownCaller', 'the local user of the caller cannot be identified');
    return refused(403, 'WrongUser', `the user with uid ${uid} is not allowed: see the agent's flag --allow-user`);
  };

  return async (request, peer) => {
    const token = tokens === undefined ? undefined : bearerOf(request);
    if (tokens !== undefined && token !== undefined) return byToken(tokens, token);
    const certificate = clientCertificates ? certificateOf(request) : undefined;
    if (certificate === undefined) return byUser(peer);
    const { name, trusted, endsAt } = certificate;
    if (!trusted || endsAt <= now())
      return refused(
        403,
        'WrongCertificate',
        'the client certificate was not issued by the trusted CA, or has expired',
      );
    const reauthorize: Reauthorize = () =>
      Promise.resolve(endsAt > now() ? undefined : 'the client certificate has expired meanwhile');
    return { kind: 'caller', caller: { identity: `cert:${name}`, via: 'certificate' }, reauthorize };
  };
};
