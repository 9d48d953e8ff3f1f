import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { createCertificateAuthority } from './certificate.ts';
import { createRandom } from './random.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');

describe('certificate authority', () => {
  const authority = createCertificateAuthority('test authority', { now: NOW, random: createRandom(1) });

  it('signs its own certificate, for loopback and a year', () => {
    const own = new X509Certificate(authority.cert);
    assert.ok(own.ca && own.verify(own.publicKey));
    assert.equal(own.subject, 'CN=test authority');
    assert.deepEqual([own.validFromDate, own.validToDate].map(Number), [NOW - 86_400_000, NOW + 365 * 86_400_000]);
    assert.ok(own.checkIP('127.0.0.1') && own.checkIP('::1') && own.checkHost('localhost'));
  });

  it('issues certificates that name their hosts and are no authority', () => {
    const issued = new X509Certificate(authority.issue('server', ['kubernetes.default']).cert);
    const own = new X509Certificate(authority.cert);
    assert.ok(issued.checkIssued(own) && issued.verify(own.publicKey));
    assert.deepEqual([issued.ca, issued.subject], [false, 'CN=server']);
    assert.equal(issued.checkHost('kubernetes.default'), 'kubernetes.default');
    assert.equal(issued.checkHost('localhost'), undefined);
    assert.notEqual(issued.serialNumber, own.serialNumber);
  });
});
