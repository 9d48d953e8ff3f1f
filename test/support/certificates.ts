import { type CertificateAuthority, createCertificateAuthority, systemClock } from '../../src/runtime/index.ts';

/** An authority for the TLS servers and clients of a test. */
export const createTestAuthority = (name = 'test authority'): CertificateAuthority =>
  createCertificateAuthority(name, { now: systemClock.now(), random: Math.random });
