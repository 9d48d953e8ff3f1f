import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contactOf } from './contact.ts';

test('a phone number, an e-mail address and an https URL can be opened', () => {
  const cases = [
    ['+49 (0)30 123-456.78', 'tel:+493012345678'],
    ['0800/1234567', 'tel:08001234567'],
    ['(555) 123-4567', 'tel:5551234567'],
    ['fleet.desk+bus@example.org', 'mailto:fleet.desk+bus@example.org'],
    ['https://example.org/help?bus=17#now', 'https://example.org/help?bus=17#now'],
    ['HTTPS://Example.org', 'https://example.org/'],
  ] as const;
  for (const [text, href] of cases) assert.deepEqual(contactOf(text), { text, href });
});

test('anything else is a text', () => {
  const texts = [
    'Code 4711, at the counter',
    '4711-08',
    '+49 30 1234567 (Anna)',
    `+${'1'.repeat(16)}`,
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)//https://example.org',
    'data:text/html,<script>alert(1)</script>',
    'tel:+4930123456',
    'http://example.org',
    'https://',
    'https://example.org/a b',
    'https://example.org/ https://evil.test',
    'https://example.org@evil.test',
    'https://:pass@evil.test',
    'https://ex\u0430mple.org',
    'https://example.org/much-too-long…',
    'desk@example.org?bcc=all@example.org',
    'desk@example.org, other@example.org',
    'desk@localhost',
    '//evil.test',
    '',
  ];
  for (const text of texts) assert.deepEqual(contactOf(text), { text });
});
