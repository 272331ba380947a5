import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, PartPlace } from '../../dev/part.ts';
import { type S3Options, startS3 } from '../../dev/s3.ts';
import { startVersitygw } from '../../dev/versitygw.ts';

const wanted = process.env.AMANAH_TEST_S3 || 'embedded';

/** The S3 server of a test run: the embedded one, or the one that `AMANAH_TEST_S3` names (`npm run test:s3`). */
export function startTestS3(options: S3Options, place: PartPlace, say: (sentence: string) => void): Promise<Part> {
  if (wanted === 'embedded') return startS3(options, place);
  if (wanted === 'versitygw') return startVersitygw(options, place, say);
  throw new Error(`AMANAH_TEST_S3 is embedded or versitygw, not ${wanted}`);
}

/**
 * Makes a bucket of its own for one stack: the register of erasures of another test file is no business of its. A bucket
 * is a directory to both servers.
 */
export function makeTestBucket(directory: string, bucket: string): void {
  mkdirSync(join(directory, wanted === 'versitygw' ? 'objects' : '', bucket), { recursive: true, mode: 0o700 });
}
