import { homedir, platform } from 'node:os';
import { join } from 'node:path';

/** Where what was downloaded or built once is kept for all stacks of this user. */
export function userCacheDirectory(): string {
  const base =
    process.env.XDG_CACHE_HOME ||
    (platform() === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'));
  return join(base, 'amanah');
}
