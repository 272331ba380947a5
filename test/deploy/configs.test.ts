import { randomUUID } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/platform/config/config.ts';
import { certificateFiles } from '../../src/platform/config/connection-options.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { createSecrets, testEnvironment } from '../support/environment.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const Config = z.strictObject({ file: z.string().optional(), content: z.string().optional() });
const Compose = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      read_only: z.boolean().default(false),
      configs: z.array(z.strictObject({ source: z.string(), target: z.string() })).default([]),
    }),
  ),
  configs: z.record(z.string(), Config).default({}),
});
const composeFiles = ['docker-compose.yml', ...globSync('deploy/compose/*.yml', { cwd: root })];

/** Each use of a config by a service, in the file that has both. */
const uses = composeFiles.flatMap((file) => {
  const { services, configs } = Compose.parse(parse(read(file), { merge: true }));
  return Object.entries(services).flatMap(([service, { read_only, configs: used }]) =>
    used.map(({ source }) => ({ service: `${service} of ${file}`, read_only, config: configs[source] })),
  );
});

describe('The configs of docker compose', () => {
  it('Docker compose configs are existing files, as compose cannot write inline text into read-only services', () => {
    expect(uses.map(({ service }) => service).toSorted()).toEqual([
      ...Array(3).fill('grafana of docker-compose.yml'),
      'pooler of deploy/compose/pooler.yml',
      'postgresql of docker-compose.yml',
      ...Array(2).fill('prometheus of docker-compose.yml'),
      'temporal of docker-compose.yml',
    ]);
    for (const { service, read_only, config } of uses) {
      expect([service, read_only, config]).toEqual([
        service,
        true,
        { file: expect.stringMatching(/^\.\/deploy\/(compose|grafana|prometheus)\/[\w.-]+$/) },
      ]);
      expect(read(config?.file ?? '').trim()).not.toBe('');
    }
  });
});

describe('Every service of docker compose', () => {
  it('Every service of docker compose has rotated logs and a memory limit', () => {
    const { services } = Compose.parse(parse(read('docker-compose.yml'), { merge: true }));
    const unlimited = Object.entries(services).filter(([, { logging, mem_limit }]) => {
      const { options } = (logging ?? {}) as { options?: Record<string, string> };
      return !mem_limit || !options?.['max-size'] || !options['max-file'];
    });
    expect(unlimited.map(([name]) => name)).toEqual([]);
  });
});

describe('Prometheus', () => {
  const jobs = ['amanah-api', 'amanah-worker', 'amanah-backup'];

  it('In docker compose, Prometheus scrapes the jobs that the rules name, at the metrics ports', () => {
    const { scrape_configs } = z
      .looseObject({
        scrape_configs: z.array(
          z.looseObject({
            job_name: z.string(),
            static_configs: z.array(z.looseObject({ targets: z.array(z.string()) })),
          }),
        ),
      })
      .parse(parse(read('deploy/prometheus/prometheus.yml')));
    const targets = scrape_configs.map(({ job_name, static_configs }) => [
      job_name,
      static_configs.flatMap((config) => config.targets),
    ]);
    expect(targets).toEqual([
      ['amanah-api', ['api:3003']],
      ['amanah-worker', ['worker:3001', 'worker:3002']],
      ['amanah-backup', ['backup:9187']],
    ]);
    const compose = read('docker-compose.yml');
    for (const text of ['METRICS_PORT:-3003', 'WORKER_PORT: "3001"', 'TEMPORAL_METRICS_PORT:-3002'])
      expect(compose).toContain(text);
    for (const job of jobs)
      expect(read('deploy/prometheus/alerts.yml')).toMatch(new RegExp(`job="${job}"|job=~"amanah-`));
  });

  it('On Kubernetes, Prometheus scrapes the existing pods under the same job names', () => {
    const Monitor = z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      spec: z.looseObject({
        podMetricsEndpoints: z.array(
          z.strictObject({
            port: z.string(),
            relabelings: z.tuple([z.strictObject({ targetLabel: z.literal('job'), replacement: z.string() })]),
          }),
        ),
      }),
    });
    const monitors = parseAllDocuments(read('deploy/kubernetes/monitoring/monitors.yaml')).map((document) =>
      Monitor.parse(document.toJS()),
    );
    expect(monitors.map(({ metadata }) => metadata.name)).toEqual(jobs);
    for (const { metadata, spec } of monitors) {
      const [path = ''] = globSync(`deploy/kubernetes/**/${metadata.name.replace('amanah-', '')}.yaml`, { cwd: root });
      const pod = read(path);
      for (const { port, relabelings } of spec.podMetricsEndpoints) {
        expect(pod).toContain(`{ name: ${port}, containerPort: `);
        expect(relabelings[0].replacement).toBe(metadata.name);
      }
    }
  });
});

describe('Backups on Kubernetes', () => {
  it('Backups on Kubernetes run in confined pods, with a name, secret and label for each server', () => {
    const [backup] = parseAllDocuments(read('deploy/kubernetes/backup/server/backup.yaml')).map((one) => one.toJS());
    const { spec } = backup.spec.template;
    expect([spec.securityContext.runAsNonRoot, spec.automountServiceAccountToken]).toEqual([true, false]);
    const [container] = spec.containers;
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    const { patches } = parse(read('deploy/kubernetes/backup/keys/kustomization.yaml'));
    for (const { path, value } of parse(patches[0].patch)) {
      const [last = '', ...parents] = path.slice(1).split('/').toReversed();
      const parent = parents.toReversed().reduce((node: Record<string, never>, name: string) => node[name], backup);
      expect([path, parent[last]]).toEqual([path, expect.stringMatching(/^(amanah|amanah-backup|books)$/)]);
      expect(value).toMatch(/keys$/);
    }
  });
});

describe('Temporal with an API key on Kubernetes', () => {
  it('Temporal with an API key on Kubernetes needs no certificate path, and no pod waits for a certificate', () => {
    const component = read('deploy/kubernetes/temporal-api-key/kustomization.yaml');
    const paths = [...read('deploy/kubernetes/configuration.yaml').matchAll(/^ +(TEMPORAL_TLS_\w+_PATH): /gm)];
    expect(paths.map(([, name = '']) => name)).toEqual([...certificateFiles]);
    for (const [, name] of paths) expect(component).toContain(`${name}: ""`);
    for (const file of ['api', 'worker', 'queues/webhooks'])
      expect(read(`deploy/kubernetes/${file}.yaml`)).toContain(
        'secretName: amanah-temporal-tls, defaultMode: 0440, optional: true',
      );
  });
});

describe('A pooler', () => {
  const texts = {
    'deploy/compose/pgbouncer.ini': read('deploy/compose/pgbouncer.ini'),
    'deploy/kubernetes/pooler/pooler.yaml': read('deploy/kubernetes/pooler/pooler.yaml'),
  };

  it.each(Object.entries(texts))(
    'The pooler of %s pools by transaction and waits no longer than a process does',
    (_, text) => {
      const settings = Object.fromEntries(
        [...text.matchAll(/^ *(\w+) = (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
      );
      expect(settings).toMatchObject({
        pool_mode: 'transaction',
        query_wait_timeout: String(budgets.reach.database / 1000),
      });
    },
  );

  it.each(Object.entries(texts))(
    'The pooler of %s has a separate name for the replica, so both database URLs can point to it',
    (_, text) => {
      const names = [...text.matchAll(/^ *(?:; )?(\w+) = host=\w+ port=5432 dbname=amanah$/gm)].map(([, name]) => name);
      expect(names).toEqual(['amanah', 'amanah_replica']);
      const [primary, replica] = names.map((name) => `postgresql://amanah_app:secret@pooler:6432/${name}`);
      const addresses = {
        databaseUrl: String(primary),
        temporalAddress: '127.0.0.1:9',
        url: 'http://127.0.0.1:9',
        sandboxUrl: 'https://127.0.0.1:9',
      };
      const environment = testEnvironment(addresses, createSecrets());
      expect(() => readConfig({ ...environment, DATABASE_READ_URL: primary })).toThrow('DATABASE_READ_URL');
      expect(readConfig({ ...environment, DATABASE_READ_URL: replica }).DATABASE_READ_URL).toBe(replica);
    },
  );
});

describe('The configuration', () => {
  const secrets = createSecrets();
  const at = 'http://127.0.0.1:1';
  const env = testEnvironment(
    { databaseUrl: 'postgresql://a@127.0.0.1/b', temporalAddress: '127.0.0.1:1', url: at, sandboxUrl: at },
    secrets,
  );
  const directory = mkdtempSync(join(tmpdir(), 'amanah-secrets-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const fileOf = (text: string): string => {
    const path = join(directory, randomUUID());
    writeFileSync(path, text);
    return path;
  };

  it('Any variable can be read from a file, without its trailing line feed', () => {
    const { XENDIT_SECRET_KEY: key = '', DATABASE_URL: url = '', ...rest } = env;
    const config = readConfig({ ...rest, XENDIT_SECRET_KEY_FILE: fileOf(`${key}\n`), DATABASE_URL_FILE: fileOf(url) });
    expect([config.XENDIT_SECRET_KEY, config.DATABASE_URL]).toEqual([key, url]);
  });

  it('The configuration rejects a missing file, a variable set both directly and by file, and half an S3 key', () => {
    const { XENDIT_SECRET_KEY: _, ...keyless } = env;
    expect(() => readConfig({ ...keyless, XENDIT_SECRET_KEY_FILE: join(directory, 'none') })).toThrow(
      'XENDIT_SECRET_KEY_FILE cannot be read: ENOENT',
    );
    expect(() => readConfig({ ...env, XENDIT_SECRET_KEY_FILE: fileOf('xnd_x') })).toThrow(
      'XENDIT_SECRET_KEY and XENDIT_SECRET_KEY_FILE are both set',
    );
    expect(() => readConfig({ ...env, S3_SECRET_ACCESS_KEY: '' })).toThrow('S3_SECRET_ACCESS_KEY');
    expect(readConfig({ ...env, S3_SECRET_ACCESS_KEY: '', S3_ACCESS_KEY_ID: '' }).S3_ACCESS_KEY_ID).toBeUndefined();
  });
});
