import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A small disk that can be filled; needs the right to mount. */
export interface SmallDisk {
  directory: string;
  /** Fills all the remaining space. */
  fill(): void;
  free(): void;
  unmount(): void;
}

const pieceBytes = 1024 * 1024;

/** Mounts a tmpfs of this many MB; null where that is not allowed (not Linux, not root, no right to mount). */
export function mountSmallDisk(directory: string, megabytes: number): SmallDisk | null {
  mkdirSync(directory, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', directory]);
  if (mounted.status !== 0) return null;
  const ballast = join(directory, 'ballast');
  const free = () => rmSync(ballast, { force: true });
  return {
    directory,
    fill() {
      const file = openSync(ballast, 'w');
      try {
        for (let piece = Buffer.alloc(pieceBytes); ; ) {
          // After a short write, smaller pieces fill the rest.
          const written = writeSync(file, piece);
          if (written < piece.length) piece = piece.subarray(0, Math.max(1, written));
        }
      } catch {
        // No space is left, as intended.
      } finally {
        closeSync(file);
      }
    },
    free,
    unmount() {
      unmountSmallDisk(directory);
    },
  };
}

/** Unmounts a small disk, e.g. of a killed run; does nothing if none is mounted. */
export const unmountSmallDisk = (directory: string): void => void spawnSync('umount', ['-l', directory]);
