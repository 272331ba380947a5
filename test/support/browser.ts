import chromium from '@sparticuz/chromium';
import { type Browser, chromium as engine } from 'playwright-core';

/** A real browser without a window: the Chromium that comes with the project's packages. */
export async function startBrowser(): Promise<Browser> {
  const args = chromium.args.filter((arg) => !arg.startsWith('--headless'));
  return engine.launch({ executablePath: await chromium.executablePath(), args });
}
