import { homedir, platform } from 'node:os';
import { join } from 'node:path';

/** The directory for downloads and builds that all stacks of this user share. */
export function userCacheDirectory(): string {
  const base =
    process.env.XDG_CACHE_HOME ||
    (platform() === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'));
  return join(base, 'amanah');
}
