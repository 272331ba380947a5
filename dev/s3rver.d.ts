declare module '@20minutes/s3rver' {
  export interface S3rverOptions {
    address: string;
    port: number;
    silent: boolean;
    directory: string;
    vhostBuckets: boolean;
    configureBuckets: { name: string }[];
  }
  export interface S3rverContext {
    path: string;
    status: number;
    headers: Record<string, unknown>;
    query: Record<string, unknown>;
    mountPath: string;
    state: { vhost?: boolean };
  }
  export default class S3rver {
    middleware: ((ctx: S3rverContext, next: () => Promise<void>) => Promise<void>)[];
    constructor(options: S3rverOptions);
    run(): Promise<{ address: string; port: number }>;
    close(): Promise<void>;
    on(event: 'error', listener: (error: unknown) => void): void;
  }
}

declare module '@20minutes/s3rver/lib/models/account.js' {
  const account: {
    DUMMY_ACCOUNT: {
      createKeyPair(accessKeyId: string, secretAccessKey: string): void;
      revokeAccessKey(accessKeyId: string): void;
    };
  };
  export default account;
}
