import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { createLogger, silentLogger } from '../../runtime/index.ts';
import { openTokenFile } from './token-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-tokens-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileOf = (text: string, mode = 0o600): string => {
  files += 1;
  const file = path.join(folder, `tokens-${files}`);
  writeFileSync(file, text, { mode });
  return file;
};
const KIOSK = 'a-token-of-the-kiosk';
const OTHER = 'another-token:with-colon';

describe('the token file', () => {
  it('returns the name of a token, and nothing for unknown tokens', () => {
    const tokens = openTokenFile(
      fileOf(`# people\nkiosk:${KIOSK}\n\nservice:${OTHER}\nbare-token-0123456789\n`),
      silentLogger,
    );
    assert.equal(tokens.nameOf(KIOSK), 'kiosk');
    assert.equal(tokens.nameOf(OTHER), 'service');
    assert.equal(tokens.nameOf('bare-token-0123456789'), 'line-5');
    for (const wrong of ['', KIOSK.slice(1), `${KIOSK} `, `kiosk:${KIOSK}`])
      assert.equal(tokens.nameOf(wrong), undefined);
  });

  it('is reloaded when it changes', () => {
    const file = fileOf(`kiosk:${KIOSK}\n`);
    const tokens = openTokenFile(file, silentLogger);
    assert.equal(tokens.nameOf(KIOSK), 'kiosk');
    writeFileSync(file, `new:${OTHER}\n`);
    assert.equal(tokens.nameOf(KIOSK), undefined);
    assert.equal(tokens.nameOf(OTHER), 'new');
  });

  it('refuses all tokens while it is missing, too open or invalid, logs that once, and recovers', () => {
    const lines: string[] = [];
    const file = fileOf(`kiosk:${KIOSK}\n`);
    const tokens = openTokenFile(file, createLogger({ write: (line) => lines.push(line), now: () => 0 }));
    const recover = (): void => {
      writeFileSync(file, `kiosk:${KIOSK}\n`);
      chmodSync(file, 0o600);
      assert.equal(tokens.nameOf(KIOSK), 'kiosk');
    };
    for (const damage of [
      () => rmSync(file),
      () => chmodSync(file, 0o644),
      () => chmodSync(file, 0o660),
      () => writeFileSync(file, 'kiosk:short\n'),
      () => writeFileSync(file, '\n'),
    ]) {
      lines.length = 0;
      damage();
      assert.equal(tokens.nameOf(KIOSK), undefined);
      assert.equal(tokens.nameOf(KIOSK), undefined);
      assert.equal(lines.length, 1);
      assert.ok(!lines[0]?.includes('short'), 'a secret is not logged');
      recover();
    }
  });

  it('can be readable by its group, like a mounted secret', () => {
    assert.equal(openTokenFile(fileOf(`kiosk:${KIOSK}\n`, 0o440), silentLogger).nameOf(KIOSK), 'kiosk');
  });

  for (const [what, text, mode, remedy] of [
    ['others may read', `kiosk:${KIOSK}\n`, 0o604, /chmod 600/],
    ['is empty', '# nobody\n', 0o600, /contains no tokens/],
    ['has a short token', 'kiosk:0123456789\n', 0o600, /line 1 has an invalid token.*16 characters/],
    ['has a bad name', `kiosk 1:${KIOSK}\n`, 0o600, /line 1 has an invalid name/],
  ] as const)
    it(`is refused at start if it ${what}`, () => {
      const file = fileOf(text);
      chmodSync(file, mode);
      assert.throws(() => openTokenFile(file, silentLogger), {
        code: 'InvalidOption',
        flag: '--token-file',
        message: remedy,
      });
    });
  const asRoot = { skip: process.getuid?.() !== 0 ? 'only root can give a file away' : false };
  it('is refused if it belongs to another user, who could add tokens', asRoot, () => {
    const file = fileOf(`kiosk:${KIOSK}\n`);
    const tokens = openTokenFile(file, silentLogger);
    chownSync(file, 4711, 0);
    assert.equal(tokens.nameOf(KIOSK), undefined);
    assert.throws(() => openTokenFile(file, silentLogger), { flag: '--token-file', message: /belongs to user 4711/ });
  });
  it('does not block if it is a FIFO', () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    assert.throws(() => openTokenFile(pipe, silentLogger), { flag: '--token-file', message: /is not a regular file/ });
    assert.throws(() => openTokenFile('/dev/zero', silentLogger), { flag: '--token-file' });
  });
  it('is refused at start if it is missing', () => {
    assert.throws(() => openTokenFile('/nonexistent/tokens', silentLogger), {
      code: 'InvalidOption',
      message: /cannot read/,
    });
  });
});
