// Takes the pictures of the documentation: node test/browser/write-pictures.ts.

import path from 'node:path';
import { launchChromium } from './chromium.ts';
import { createFakeBackend } from './fake-backend.ts';
import { type SceneName, scenes } from './fixtures.ts';
import { serve } from './stage.ts';
import { screens } from './visit.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/images');

interface Picture {
  file: string;
  scene: SceneName;
  screen: keyof typeof screens;
  dark?: true;
}

const PICTURES: readonly Picture[] = [
  { file: 'owner-new-version', scene: 'available', screen: 'upright' },
  { file: 'owner-deadline-wide', scene: 'deadline', screen: 'lying' },
  { file: 'owner-offline', scene: 'queuedOffline', screen: 'upright' },
  { file: 'owner-progress-dark', scene: 'stopping', screen: 'lying', dark: true },
  { file: 'owner-failed', scene: 'failed', screen: 'upright' },
];

const browser = await launchChromium();
try {
  for (const { file, scene, screen, dark = false } of PICTURES) {
    const served = await serve(createFakeBackend(scenes[scene]));
    const page = await browser.newPage({
      viewport: screens[screen],
      colorScheme: dark ? 'dark' : 'light',
      // Sharp in print, but small files, and without animations.
      deviceScaleFactor: 1.5,
      reducedMotion: 'reduce',
    });
    await page.goto(`http://127.0.0.1:${served.port}`);
    await page.locator('.history').waitFor();
    await page.screenshot({ path: path.join(FOLDER, `${file}.png`), animations: 'disabled' });
    await page.close();
    await served.close();
  }
} finally {
  await browser.close();
}
