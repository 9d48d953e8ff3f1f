import { constants, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Server, ServerOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import { type Env, OptionError } from '../runtime/index.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
  /** CA of client certificates; undefined: none are requested. */
  clientCaFile: string | undefined;
}

/** A rotated certificate is picked up by the first connection after this time. */
const RECHECK_MS = 1_000;
const HANDSHAKE_MS = 5_000;

const read = (flag: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new OptionError(flag, `cannot read ${file}: check its path and permissions`);
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
 * Throws unless the file contains a CA certificate. Given an empty text, Node falls back to its built-in list, and any
 * certificate of a public CA would be accepted.
 */
export const checkCa = (file: string, text: string): void => {
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new OptionError('--client-ca-file', `${file} contains no certificate: give the CA certificate in PEM format`);
  for (const [at, pem] of found.entries()) {
    if (!isCertificate(pem))
      throw new OptionError('--client-ca-file', `cannot parse certificate ${at + 1} of ${file}: give it in PEM format`);
  }
};

const load = ({ certFile, keyFile, clientCaFile }: TlsFiles): { cert: string; key: string; ca?: string } => {
  const context = {
    cert: read('--tls-cert-file', certFile),
    key: read('--tls-private-key-file', keyFile),
    ...(clientCaFile === undefined ? {} : { ca: read('--client-ca-file', clientCaFile) }),
  };
  if (clientCaFile !== undefined) checkCa(clientCaFile, context.ca ?? '');
  try {
    createSecureContext({ cert: context.cert, key: context.key });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown';
    throw new OptionError(
      '--tls-cert-file',
      `${certFile} and ${keyFile} are not a certificate and its private key (${why})`,
    );
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

/** Options for the HTTPS server. Throws an `OptionError` that names the flag whose file can't be used. */
export const tlsOptions = (files: TlsFiles): ServerOptions => ({
  ...load(files),
  minVersion: 'TLSv1.2',
  handshakeTimeout: HANDSHAKE_MS,
  // A caller without a valid certificate may have a token: the handler decides, and answers over HTTP.
  requestCert: files.clientCaFile !== undefined,
  rejectUnauthorized: false,
  // A resumed session would keep the verdict of a CA that was replaced meanwhile; after a renegotiation, Node shows the
  // new, unverified certificate together with its verdict on the first one.
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
});

/** Reloads rotated files before the next handshake. While they are unusable, the last valid ones stay in use. */
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
      log.info('reloaded the TLS certificate', { file: files.certFile });
    } catch (error) {
      log.error('failed to reload the TLS certificate: keeping the previous one', { error });
    }
  };
  // Runs before Node's own listener, which starts the handshake.
  server.prependListener('connection', check);
};
