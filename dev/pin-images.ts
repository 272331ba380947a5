/**
 * `npm run images:pin`: writes the current digest of each tag into the files below, so that a release uses exactly the
 * images it was tested with. Needs docker with buildx, and the registry. `npm run images:check` lists the images without
 * a digest, which a release (a commit with a tag `v*`) must not have: for a release it exits with 1.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file that names a third-party image. */
export const files = [
  'Dockerfile',
  'deploy/backup/Dockerfile',
  'docker-compose.yml',
  'deploy/compose/pooler.yml',
  'deploy/kubernetes/pooler/pooler.yaml',
];

/** The default of a variable `*_IMAGE`, in a compose file or Dockerfile, and a third-party image on Kubernetes. */
const defaults =
  /(?<=\$\{\w+_IMAGE:-)[^}]+(?=\})|(?<=^ARG \w+_IMAGE=)\S+|(?<=^ +image: )(?!amanah$|registry\.example\.org\/|\$)\S+/gm;
const isPinned = (image: string): boolean => /.@sha256:[0-9a-f]{64}$/.test(image);

/** The images that a file names, including repetitions. */
export const imagesIn = (text: string): string[] => text.match(defaults) ?? [];

export const unpinnedIn = (text: string): string[] => imagesIn(text).filter((image) => !isPinned(image));

/** The text with every image pinned to its tag's digest, replacing an older digest. */
export const pinImages = (text: string, digestOf: (tagged: string) => string): string =>
  text.replace(defaults, (image) => {
    const [tagged = image] = image.split('@');
    const pinned = `${tagged}@${digestOf(tagged)}`;
    if (!isPinned(pinned)) throw new Error(`${tagged}: the registry returned no digest, but ${digestOf(tagged)}`);
    return pinned;
  });

function askRegistry(tagged: string): string {
  const question = ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', tagged];
  const { status, stdout, stderr, error } = spawnSync('docker', question, { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  throw new Error(`docker buildx found no digest for ${tagged}: ${error?.message ?? stderr.trim()}`);
}

/** Asks the registry once for each image. */
export function createDigests(): (tagged: string) => string {
  const known = new Map<string, string>();
  return (tagged) => {
    const digest = known.get(tagged) ?? askRegistry(tagged);
    known.set(tagged, digest);
    return digest;
  };
}

function check(root: string): void {
  const complaints = files.flatMap((file) =>
    unpinnedIn(readFileSync(join(root, file), 'utf8')).map((image) => `${file}: ${image} has no digest`),
  );
  if (complaints.length === 0) return;
  // Without a repository this is not a release.
  const told = spawnSync('git', ['tag', '--points-at', 'HEAD', 'v*'], { cwd: root, encoding: 'utf8' });
  const tags = told.status === 0 ? told.stdout.trim() : '';
  const verdict = tags === '' ? 'a release would be refused' : `the release ${tags} is refused`;
  process.stderr.write(`${complaints.join('\n')}\nSo ${verdict}: npm run images:pin\n`);
  process.exitCode = tags === '' ? 0 : 1;
}

function pin(root: string): void {
  const digestOf = createDigests();
  try {
    const texts = files.map((file) => [file, pinImages(readFileSync(join(root, file), 'utf8'), digestOf)] as const);
    for (const [file, text] of texts) writeFileSync(join(root, file), text);
  } catch (error) {
    process.stderr.write(`Nothing was pinned. ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.main) (process.argv.includes('--check') ? check : pin)(process.cwd());
