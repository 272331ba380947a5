import type { Part, PartPlace } from '../../dev/part.ts';
import { type S3Options, startS3 } from '../../dev/s3.ts';
import { startVersitygw } from '../../dev/versitygw.ts';

/** The S3 server of a test run: the embedded one, or the one that `AMANAH_TEST_S3` names (`npm run test:s3`). */
export function startTestS3(options: S3Options, place: PartPlace, say: (sentence: string) => void): Promise<Part> {
  const wanted = process.env.AMANAH_TEST_S3 || 'embedded';
  if (wanted === 'embedded') return startS3(options, place);
  if (wanted === 'versitygw') return startVersitygw(options, place, say);
  throw new Error(`AMANAH_TEST_S3 is embedded or versitygw, not ${wanted}`);
}
