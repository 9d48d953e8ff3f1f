import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Caller, Reauthorize } from '../types.ts';
import type { Peer } from './peer.ts';
import type { TokenFile } from './token-file.ts';

export interface AuthOptions {
  /** Local users that may call. */
  allowedUids: ReadonlySet<number>;
  /** Undefined: bearer tokens are not looked at. */
  tokens: TokenFile | undefined;
  /** Whether a client certificate of the trusted authority is a way in. */
  clientCertificates: boolean;
}

/** Why a caller was refused, for machines. */
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

/** The certificate's common name, when the client proved one of the trusted authority; undefined without a certificate. */
const certificateOf = (request: IncomingMessage): { name: string; trusted: boolean; endsAt: number } | undefined => {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const name = /^CN=(.+)$/m.exec(certificate.subject)?.[1] ?? certificate.fingerprint256;
  return { name: name.slice(0, 128), trusted: socket.authorized, endsAt: certificate.validToDate.getTime() };
};

/**
 * Says who calls. A token or a certificate that a caller presents is judged by itself, so a wrong one is refused whoever
 * sends it; without one, a caller of this machine is known by its user.
 */
export const createAuthenticator = (
  { allowedUids, tokens, clientCertificates }: AuthOptions,
  now: () => number,
): Authenticator => {
  const withCredentials = tokens !== undefined || clientCertificates;

  const byToken = (file: TokenFile, token: string): AuthResult => {
    const name = file.nameOf(token);
    if (name === undefined) return refused(403, 'WrongToken', 'the bearer token is not known here');
    const reauthorize = (): Promise<string | undefined> =>
      Promise.resolve(file.nameOf(token) === name ? undefined : 'the bearer token was withdrawn meanwhile');
    return { kind: 'caller', caller: { identity: `token:${name}`, via: 'token' }, reauthorize };
  };

  const byUser = async (peer: Peer): Promise<AuthResult> => {
    const uid = await peer.uid;
    if (uid !== undefined && allowedUids.has(uid)) {
      const reauthorize = async (): Promise<string | undefined> => {
        const present = await peer.recheck();
        return present === uid ? undefined : 'the caller has gone, or who it is cannot be told any more';
      };
      const via = peer.via === 'unix' ? 'unix' : 'loopback';
      return { kind: 'caller', caller: { identity: `uid:${uid}`, via }, reauthorize };
    }
    if (withCredentials)
      return refused(401, 'MissingCredentials', 'who calls? Send a bearer token or a client certificate');
    if (uid === undefined) return refused(403, 'UnknownCaller', 'which local user calls cannot be told');
    return refused(403, 'WrongUser', `the user with uid ${uid} may not call: see the agent's flag --allow-user`);
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
        'the client certificate is not of the authority trusted here, or is over',
      );
    const reauthorize = (): Promise<string | undefined> =>
      Promise.resolve(endsAt > now() ? undefined : 'the client certificate has expired meanwhile');
    return { kind: 'caller', caller: { identity: `cert:${name}`, via: 'certificate' }, reauthorize };
  };
};
