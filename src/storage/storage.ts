import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { Config } from '../config.ts';

/** Object storage, S3 or what speaks its language. */
export interface Storage {
  /** Throws unless the bucket answers. */
  ping(): Promise<void>;
  close(): void;
}

/** Opens the bucket of the configuration (lazily: the first call connects). */
export function openStorage(config: Config): Storage {
  const client = new S3Client({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: config.S3_ACCESS_KEY_ID, secretAccessKey: config.S3_SECRET_ACCESS_KEY },
    // Other S3 servers refuse the new trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
  });
  return {
    async ping() {
      await client.send(new HeadBucketCommand({ Bucket: config.S3_BUCKET }));
    },
    close: () => client.destroy(),
  };
}
