// Takes the pictures of the documentation: node test/browser/write-pictures.ts.

import path from 'node:path';
import { launchChromium } from './chromium.ts';
import { createFakeBackend } from './fake-backend.ts';
import { type SceneName, scenes } from './fixtures.ts';
import { recordFleetLoop } from './fleet-loop.ts';
import { takeFleetPicture } from './fleet-picture.ts';
import { serve } from './stage.ts';
import { phone, screens } from './visit.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/images');

const SCREENS = { ...screens, phone };

interface Picture {
  file: string;
  scene: SceneName;
  screen: keyof typeof SCREENS;
  dark?: true;
  /** Default: English. */
  locale?: string;
}

const PICTURES: readonly Picture[] = [
  { file: 'owner-new-version', scene: 'notes', screen: 'upright' },
  { file: 'owner-german', scene: 'germanNotes', screen: 'phone', locale: 'de' },
  { file: 'owner-deadline-wide', scene: 'deadline', screen: 'lying' },
  { file: 'owner-offline', scene: 'queuedOffline', screen: 'upright' },
  { file: 'owner-progress-dark', scene: 'stopping', screen: 'lying', dark: true },
  { file: 'owner-failed', scene: 'failed', screen: 'upright' },
];

await recordFleetLoop(path.join(FOLDER, 'loop.svg'));
const browser = await launchChromium();
try {
  await takeFleetPicture(browser, path.join(FOLDER, 'fleet.png'));
  for (const { file, scene, screen, dark = false, locale = 'en-GB' } of PICTURES) {
    const served = await serve(createFakeBackend(scenes[scene]));
    const page = await browser.newPage({
      viewport: SCREENS[screen],
      locale,
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
