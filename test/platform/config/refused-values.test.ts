import { readConfig } from '../../../src/platform/config/config.ts';
import { createSecrets, testEnvironment } from '../../support/environment.ts';
import { write } from '../../wiring/temporal/tls-gate.ts';

const here = {
  databaseUrl: 'postgresql://a:secret@127.0.0.1/amanah',
  temporalAddress: '127.0.0.1:7233',
  url: 'http://127.0.0.1:3000',
  sandboxUrl: 'http://127.0.0.1:4000',
};
/** Reads the configuration with these changes; returns its complaint, or an empty string. */
function complaintOf(changes: Record<string, string>): string {
  try {
    readConfig({ ...testEnvironment(here, createSecrets()), ...changes });
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Addresses without a query, a fragment or a user. */
const webUrls = ['PUBLIC_URL', 'S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT', 'XENDIT_URL', 'TEMPORAL_UI_URL'];

describe('Values that would be ignored', () => {
  it.each(['nonsense', 'postgresql://a:sec/ret@db.example.org/amanah', 'mysql://db.example.org/amanah'])(
    'The error about the database URL %s names its variable and does not repeat the URL',
    (url) => {
      for (const name of ['DATABASE_URL', 'KEYS_DATABASE_URL', 'DATABASE_READ_URL', 'READER_DATABASE_URL']) {
        expect(complaintOf({ [name]: url })).toContain(
          `ConfigError: The configuration cannot be used: ${name} is malformed`,
        );
        expect(complaintOf({ [name]: url })).not.toContain('ret@');
      }
    },
  );

  it('The configuration rejects a fragment in a database URL, and an sslrootcert that contains no certificate', () => {
    const far = 'postgresql://a:secret@db.example.org/amanah?sslmode=verify-full';
    expect(complaintOf({ READER_DATABASE_URL: `${far}#sslrootcert=/a` })).toContain('READER_DATABASE_URL is malformed');
    const file = write('no-authority.pem', 'nothing');
    expect(complaintOf({ READER_DATABASE_URL: `${far}&sslrootcert=${file}` })).toContain(
      'READER_DATABASE_URL is malformed: sslrootcert=',
    );
  });

  it('The configuration rejects the main database as keys database or replica, however its host and port are written', () => {
    for (const name of ['KEYS_DATABASE_URL', 'DATABASE_READ_URL']) {
      const complaint = complaintOf({
        DATABASE_URL: 'postgresql://a:secret@localhost/amanah',
        [name]: 'postgresql://b:secret@LOCALHOST:5432/amanah',
      });
      expect(complaint).toContain(`${name} is malformed: names the database of DATABASE_URL`);
    }
  });

  it.each([...webUrls, 'OTEL_EXPORTER_OTLP_ENDPOINT'])(
    'The configuration rejects addresses in %s that are not plain http or https',
    (name) => {
      for (const url of [
        'localhost:3000',
        'ftp://a.example.org',
        'https://a.example.org/?q=1',
        'https://a.example.org/#f',
      ])
        expect([url, complaintOf({ [name]: url })]).toEqual([url, expect.stringContaining(`${name} is malformed`)]);
      expect(complaintOf({ [name]: 'https://a.example.org' })).toBe('');
    },
  );

  it.each([...webUrls, 'AUTH_EXTERNAL_JWKS_URL'])(
    'The configuration rejects a password in %s, which calls would ignore or fail on',
    (name) => expect(complaintOf({ [name]: 'https://user:secret@a.example.org' })).toContain(`${name} is malformed`),
  );

  it('The configuration rejects a path in PUBLIC_URL, which links would not have', () => {
    expect(complaintOf({ PUBLIC_URL: 'https://a.example.org/amanah' })).toContain('PUBLIC_URL is malformed');
    expect(complaintOf({ PUBLIC_URL: 'https://a.example.org/' })).toBe('');
  });

  it.each([
    'smtp://mail.example.org?ignoreTLS=true',
    'smtps://mail.example.org?tls.rejectUnauthorized=false',
    'smtp://mail.example.org/inbox',
  ])('The configuration rejects SMTP_URL %s', (url) => {
    expect(complaintOf({ SMTP_URL: url, MAIL_FROM: 'a@example.org' })).toContain('SMTP_URL is malformed');
  });

  it.each(['smtp://127.0.0.1:1025', 'smtps://user:pass%2Fword@mail.example.org/', 'smtp://[::1]'])(
    'The configuration accepts SMTP_URL %s',
    (url) => expect(complaintOf({ SMTP_URL: url, MAIL_FROM: 'a@example.org' })).toBe(''),
  );

  it.each([
    ['TEMPORAL_ADDRESS', 'http://temporal:7233'],
    ['TEMPORAL_ADDRESS', 'temporal'],
    ['TEMPORAL_ADDRESS', 'temporal:99999'],
    ['ALLOWED_ORIGINS', 'app.example.org'],
    ['ALLOWED_ORIGINS', '*'],
    ['ALLOWED_ORIGINS', 'https://app.example.org/path'],
    ['ALLOWED_ORIGINS', 'https://user:password@app.example.org'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ])('The configuration rejects %s=%s', (name, value) => {
    expect(complaintOf({ [name]: value })).toContain(`${name} is malformed`);
  });
});
