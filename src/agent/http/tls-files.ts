import { constants, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Server, ServerOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Env } from '../../runtime/index.ts';
import { OptionError } from '../../runtime/index.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
  /** Authority of client certificates; undefined: they are not asked for. */
  clientCaFile: string | undefined;
}

/** A rotated certificate is noticed with the first connection after this long. */
const RECHECK_MS = 1_000;
const HANDSHAKE_MS = 5_000;

const read = (flag: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new OptionError(flag, `${file} cannot be read: correct its path or its permissions`);
  }
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
};

/**
 * Throws unless there is an authority in the file. Of an empty text node makes its own list: whoever has a certificate of
 * any public authority could come in.
 */
const checkAuthorities = (file: string, text: string): void => {
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new OptionError('--client-ca-file', `${file} holds no certificate: give the authority in PEM form`);
  for (const [at, pem] of found.entries()) {
    if (!isCertificate(pem))
      throw new OptionError('--client-ca-file', `${file}: certificate ${at + 1} cannot be read: give it in PEM form`);
  }
};

const load = ({ certFile, keyFile, clientCaFile }: TlsFiles): { cert: string; key: string; ca?: string } => {
  const context = {
    cert: read('--tls-cert-file', certFile),
    key: read('--tls-private-key-file', keyFile),
    ...(clientCaFile === undefined ? {} : { ca: read('--client-ca-file', clientCaFile) }),
  };
  if (clientCaFile !== undefined) checkAuthorities(clientCaFile, context.ca ?? '');
  try {
    createSecureContext({ cert: context.cert, key: context.key });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown';
    throw new OptionError('--tls-cert-file', `${certFile} and ${keyFile} are no certificate and its key (${why})`);
  }
  return context;
};

const versionOf = ({ certFile, keyFile, clientCaFile }: TlsFiles): string =>
  [certFile, keyFile, clientCaFile]
    .map((file) => {
      const { mtimeMs, ctimeMs, size, ino } = statSync(file ?? keyFile);
      return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
    })
    .join('|');

/** What an HTTPS server begins with. Throws an `OptionError` that names the flag whose file cannot be used. */
export const tlsOptions = (files: TlsFiles): ServerOptions => ({
  ...load(files),
  minVersion: 'TLSv1.2',
  handshakeTimeout: HANDSHAKE_MS,
  // Who comes without a good certificate may have a token: the handler decides, and says so in HTTP.
  requestCert: files.clientCaFile !== undefined,
  rejectUnauthorized: false,
  // A resumed session would carry a verdict of an authority that was replaced meanwhile; after a renegotiation node shows
  // the new certificate, of whomever, beside its verdict on the first one.
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
});

/** Takes over renewed files before the next handshake; while they are unusable, the last good ones serve on. */
export const followTlsFiles = (server: Server, files: TlsFiles, { clock, log }: Pick<Env, 'clock' | 'log'>): void => {
  let version = versionOf(files);
  let checkedAt = clock.now();
  const check = (): void => {
    if (Math.abs(clock.now() - checkedAt) < RECHECK_MS) return;
    checkedAt = clock.now();
    try {
      const found = versionOf(files);
      if (found === version) return;
      version = found;
      server.setSecureContext(tlsOptions(files));
      log.info('the certificate was renewed', { file: files.certFile });
    } catch (error) {
      log.error('the renewed certificate cannot be used: the former one serves on', { error });
    }
  };
  // Before node's own listener, which begins the handshake.
  server.prependListener('connection', check);
};
