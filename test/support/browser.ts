import { type Browser, chromium as engine } from 'playwright-core';
import { findExecutable } from '../../dev/temporal-binary.ts';
import { describeWith, hasTool, loadTool } from '../tools/index.ts';

interface Packaged {
  args: string[];
  executablePath(): Promise<string>;
}

const packaged = '@sparticuz/chromium';
/** The system's Chromium, without the packaged browser, whose version is the same on every machine. */
const system = hasTool(packaged) ? null : (findExecutable('chromium') ?? findExecutable('chromium-browser'));

export const hasBrowser = system !== null || hasTool(packaged);

/**
 * `describe` for tests that open a page in a browser. It looks `describe` up at each call, because a jest worker loads
 * this module once for all its files, and an earlier file's `describe.skip` would run the tests of a later one.
 */
export const describeInBrowser = (title: string, tests: () => void): void =>
  describeWith(hasBrowser, 'a browser')(title, tests);

/** Starts a headless browser: the one of `test/tools`, or else the system's Chromium. */
export async function startBrowser(): Promise<Browser> {
  if (system !== null) return engine.launch({ executablePath: system, args: ['--no-sandbox'] });
  const { default: chromium } = await loadTool<{ default: Packaged }>(packaged);
  // The package's default arguments disable the isolation between origins.
  const args = chromium.args.filter((arg) => !arg.startsWith('--headless') && arg !== '--disable-web-security');
  return engine.launch({ executablePath: await chromium.executablePath(), args });
}
