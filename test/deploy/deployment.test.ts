import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { serviceNodeOptions } from '../../dev/service-parts.ts';
import { verificationVariables } from '../../src/platform/config/command-config.ts';
import { configVariables } from '../../src/platform/config/config.ts';
import { certificateFiles } from '../../src/platform/config/connection-options.ts';
import { stepQueues, taskQueueOf } from '../../src/platform/config/step-queues.ts';
import { budgets } from '../../src/shared/budgets.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Parses the documents of a YAML file; fails with the parser's errors. */
function parse(path: string): unknown[] {
  const documents = parseAllDocuments(read(path), { merge: true });
  if ('empty' in documents) return [];
  for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  return documents.map((document) => document.toJS());
}

const Probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) });
const Reference = z.object({ name: z.literal('amanah'), key: z.string(), optional: z.boolean().optional() });
const Variable = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.strictObject({ secretKeyRef: Reference.optional(), configMapKeyRef: Reference.optional() }).optional(),
});
const Container = z.looseObject({
  image: z.string().regex(/:[\w.]+$/),
  command: z.tuple([z.literal('node')], z.string()),
  env: z.array(Variable),
  envFrom: z.tuple([z.object({ configMapRef: z.object({ name: z.literal('amanah') }) })]).optional(),
  resources: z.looseObject({ requests: z.looseObject({}), limits: z.looseObject({ memory: z.string() }) }),
  readinessProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  startupProbe: Probe.optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
const PodSpec = z.looseObject({
  terminationGracePeriodSeconds: z.number().optional(),
  automountServiceAccountToken: z.literal(false),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
  containers: z.tuple([Container]),
});
const WithPod = z.looseObject({ template: z.looseObject({ spec: PodSpec }) });
const Named = z.looseObject({ name: z.string() });
const Mount = z.looseObject({ name: z.string(), mountPath: z.string() });
const CronSpec = z.looseObject({
  schedule: z.string(),
  timeZone: z.string(),
  concurrencyPolicy: z.literal('Forbid'),
  jobTemplate: z.looseObject({ spec: WithPod }),
});
const Workload = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.enum(['Deployment', 'Job']), metadata: Named, spec: WithPod }),
  z.looseObject({ kind: z.literal('CronJob'), metadata: Named, spec: CronSpec }),
]);
const Anything = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }).optional(),
});

const kubernetesFiles = globSync('deploy/kubernetes/*.yaml', { cwd: root });
const objects = () => kubernetesFiles.flatMap(parse).map((document) => Anything.parse(document));
const withPods = ['Deployment', 'Job', 'CronJob'];
/** Lists the pods that run our image. */
const workloads = () =>
  objects()
    .filter(({ kind }) => withPods.includes(kind))
    .map((document) => {
      const workload = Workload.parse(document);
      const { template } = workload.kind === 'CronJob' ? workload.spec.jobTemplate.spec : workload.spec;
      return { kind: workload.kind, name: workload.metadata.name, pod: template.spec, document: workload };
    });
const configMap = () => {
  const map = objects().find(({ kind }) => kind === 'ConfigMap');
  return z.looseObject({ data: z.record(z.string(), z.string()) }).parse(map).data;
};

const Service = z.looseObject({
  image: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.looseObject({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default(['default']),
  ports: z.array(z.string()).default([]),
  user: z.string().optional(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
});
const Compose = z.looseObject({
  services: z.record(z.string(), Service.extend({ image: z.string().optional() })),
  volumes: z.record(z.string(), z.null()),
});
/** The changes and additions of a further docker compose file. */
const Override = z.looseObject({ services: z.record(z.string(), Service.partial()) });
const Kustomization = z.looseObject({
  kind: z.string(),
  resources: z.array(z.string()),
  patches: z.array(z.looseObject({ path: z.string() })),
});
const compose = () => Compose.parse(parse('docker-compose.yml')[0]);

const exampleVariables = () => [...read('.env.example').matchAll(/^([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name);

/** Set by npm start, by the image or only in development; not by an operator. */
const notForOperators = [
  'DATA_DIR',
  'LISTEN_ADDRESS',
  'WORKFLOW_BUNDLE',
  'WEBHOOK_ALLOW_LOOPBACK',
  'FAILPOINTS',
  'TEMPORAL_SKIPS_TIME',
];
const forOperators = () => configVariables.filter((name) => !notForOperators.includes(name)).toSorted();

/** Read by one kind of process alone. */
const ofOneProcess: Record<string, string[]> = {
  api: ['METRICS_PORT', 'MAIL_BOUNCES_TOKEN'],
  migrate: ['MIGRATION_DATABASE_URL', 'MIGRATION_KEYS_DATABASE_URL', 'READER_DATABASE_URL'],
  worker: [
    'WORKER_PORT',
    'TEMPORAL_METRICS_PORT',
    'WORKER_QUEUES',
    'WORKER_DEPLOYMENT_NAME',
    'WORKER_BUILD_ID',
    'BODIES_KEPT_DAYS',
    'CUSTOMERS_KEPT_DAYS',
    'SEAL_SIGNING_KEY',
    'SEAL_VERIFICATION_KEYS',
  ],
};
const ofMigrations = [
  'DATABASE_URL',
  'KEYS_DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'MIGRATION_KEYS_DATABASE_URL',
  'READER_DATABASE_URL',
];
/** The other roles of the database, the signing key, and the public address of the files. */
const notForVerify = ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'SEAL_SIGNING_KEY', 'S3_PUBLIC_ENDPOINT'];
const variablesOf = (process: string): string[] => {
  if (process === 'migrate') return [...ofMigrations, 'NODE_ENV'].toSorted();
  if (process === 'verify') return verificationVariables.filter((name) => !notForVerify.includes(name)).toSorted();
  const ofOthers = Object.entries(ofOneProcess).flatMap(([name, variables]) => (name === process ? [] : variables));
  return forOperators().filter((variable) => !ofOthers.includes(variable));
};

describe('Environment variables', () => {
  it('Variables in .env.example and in the configuration are the same', () => {
    const ofComposeOnly = [
      'POSTGRES_PASSWORD',
      'DATABASE_OWNER_PASSWORD',
      'DATABASE_APP_PASSWORD',
      'DATABASE_KEYS_PASSWORD',
      'S3_VERIFY_ACCESS_KEY_ID',
      'S3_VERIFY_SECRET_ACCESS_KEY',
      'DATABASE_READER_PASSWORD',
      'DATABASE_BACKUP_PASSWORD',
      'BACKUP_DAYS',
      'BACKUP_S3',
      'BACKUP_S3_ENDPOINT',
      'BACKUP_S3_REGION',
      'BACKUP_S3_ACCESS_KEY_ID',
      'BACKUP_S3_SECRET_ACCESS_KEY',
      'TEMPORAL_DATABASE_PASSWORD',
      'AMANAH_MEMORY',
      'POSTGRES_MEMORY',
      'TEMPORAL_MEMORY',
    ];
    expect(exampleVariables().toSorted()).toEqual([...forOperators(), ...ofComposeOnly].toSorted());
  });

  it('In docker compose, API, worker, migrations and verify each get exactly their variables', () => {
    const { services } = compose();
    const known = new Set(configVariables);
    for (const name of ['api', 'worker', 'migrate', 'verify']) {
      const given = Object.keys(services[name]?.environment ?? {});
      expect(given.filter((variable) => !known.has(variable))).toEqual([]);
      expect(given.toSorted()).toEqual(variablesOf(name));
    }
  });

  it('Every variable that docker compose needs is in .env.example', () => {
    const text = read('docker-compose.yml');
    const asked = new Set([...text.matchAll(/(?<!\$)\$\{([A-Z0-9_]+)/g)].map(([, name = '']) => name));
    const known = [...exampleVariables(), 'TEMPORAL_UI_PORT', 'S3_PORT'];
    expect([...asked].filter((name) => name.endsWith('_IMAGE')).length).toBeGreaterThan(5);
    expect([...asked].filter((name) => !known.includes(name) && !name.endsWith('_IMAGE'))).toEqual([]);
  });

  it('On Kubernetes, API, worker and verify each get exactly their variables', () => {
    const data = configMap();
    const known = new Set(configVariables);
    for (const { name, pod } of workloads()) {
      const [{ env, envFrom }] = pod.containers;
      const given = [...(envFrom ? Object.keys(data) : []), ...env.map((variable) => variable.name)];
      expect(given.filter((variable) => !known.has(variable))).toEqual([]);
      const [, process = ''] = name.split('-');
      expect([process, envFrom === undefined]).toEqual([process, process === 'verify']);
      if (process !== 'migrate') expect(given.toSorted()).toEqual(variablesOf(process));
      for (const { name: variable, valueFrom: { configMapKeyRef } = {} } of env) {
        if (configMapKeyRef) expect([configMapKeyRef.key, configMapKeyRef.key in data]).toEqual([variable, true]);
      }
    }
  });

  it('Variables in docs/configuration.md and in the configuration are the same', () => {
    const named = [...read('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z0-9_]*)` \|/gm)].map(
      ([, name = '']) => name,
    );
    const ofNpmStart = ['TEMPORAL_UI_PORT'];
    const wanted = configVariables.filter((name) => name !== 'WORKFLOW_BUNDLE');
    expect([...new Set(named)].toSorted()).toEqual([...wanted, ...ofNpmStart].toSorted());
  });
});

describe('docker-compose.yml', () => {
  it('Services in docker-compose.yml depend only on existing services, on conditions that those can meet', () => {
    const { services } = compose();
    for (const { depends_on } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const other = services[name];
        expect(other).toBeDefined();
        if (condition === 'service_healthy') expect(other?.healthcheck).toBeDefined();
        else expect(condition).toBe('service_completed_successfully');
        if (condition === 'service_completed_successfully') expect(other?.restart).toMatch(/^on-failure:\d+$/);
      }
    }
  });

  it('docker-compose.yml probes API and worker for readiness, runs existing files and mounts every volume', () => {
    const { services, volumes } = compose();
    for (const name of ['api', 'worker', 'migrate', 'verify']) {
      const [program, ...rest] = services[name]?.command ?? [];
      expect(program).toBe('node');
      expect(globSync(rest.at(-1) ?? '', { cwd: root })).toEqual([rest.at(-1)]);
    }
    for (const name of ['api', 'worker']) expect(services[name]?.healthcheck?.test.join(' ')).toContain('/readyz');
    const mounted = Object.values(services).flatMap(({ volumes: mounts }) =>
      mounts.map((mount) => mount.split(':')[0]),
    );
    expect(mounted.toSorted()).toEqual(Object.keys(volumes).toSorted());
  });
});

describe('npm run verify in the deployments', () => {
  it('In docker compose, npm run verify connects as the reader, without other passwords or the signing key', () => {
    const { verify, migrate, worker } = compose().services;
    const given = verify?.environment ?? {};
    expect(given.READER_DATABASE_URL).toMatch(/^postgresql:\/\/amanah_reader:\$\{DATABASE_READER_PASSWORD:\?[^}]+\}@/);
    expect(given.READER_DATABASE_URL).toBe(migrate?.environment.READER_DATABASE_URL);
    const values = Object.values(given).join('\n');
    expect(values).not.toMatch(/amanah_app|amanah_owner|SEAL_SIGNING_KEY|(APP|OWNER|POSTGRES)_PASSWORD/);
    const { READER_DATABASE_URL: _, S3_ACCESS_KEY_ID: key, S3_SECRET_ACCESS_KEY: secret, ...others } = given;
    expect([key, secret].every((own) => own?.startsWith('${S3_VERIFY_'))).toBe(true);
    expect(worker?.environment).toMatchObject(others);
  });

  it('In docker compose, npm run verify runs only on request, is never restarted and starts no migrations', () => {
    const { verify } = compose().services;
    expect(verify).toMatchObject({
      profiles: ['verify'],
      restart: 'no',
      command: ['node', 'src/wiring/commands/verify.ts'],
    });
    expect(Object.keys(verify?.depends_on ?? {}).toSorted()).toEqual(['postgresql', 's3']);
  });

  it('On Kubernetes, npm run verify runs every night after sealing, confined like the worker', () => {
    const [verify, worker] = ['amanah-verify', 'amanah-worker'].map((wanted) =>
      workloads().find(({ name }) => name === wanted),
    );
    const [ours, theirs] = [verify?.pod.containers[0], worker?.pod.containers[0]];
    expect(ours?.command).toEqual(['node', 'src/wiring/commands/verify.ts']);
    expect(ours?.image).toBe(theirs?.image);
    expect(ours?.securityContext).toEqual(theirs?.securityContext);
    expect(verify?.pod.securityContext).toEqual(worker?.pod.securityContext);
    const { schedule, timeZone } = CronSpec.parse(verify?.document.spec);
    const [, hour = ''] = /^\d+ (\d+) \* \* \*$/.exec(schedule) ?? [];
    expect(timeZone).toBe('Asia/Jakarta');
    // Journals are sealed at one o'clock.
    expect(Number(hour)).toBeGreaterThan(1);
    expect(Number(hour)).toBeLessThan(6);
  });

  it('On Kubernetes, pods start without keys of the file store, so that the SDK finds their role', () => {
    const keys = workloads().flatMap(({ pod }) =>
      pod.containers[0].env
        .filter(({ name }) => /^S3_.*ACCESS_KEY/.test(name))
        .map(({ valueFrom }) => valueFrom?.secretKeyRef),
    );
    expect(keys.length).toBeGreaterThan(5);
    expect(keys.filter((key) => key?.optional !== true)).toEqual([]);
  });

  it('On Kubernetes, npm run verify gets only the secrets of the reader and the file store', () => {
    const [container] = workloads().find(({ name }) => name === 'amanah-verify')?.pod.containers ?? [];
    const secrets = container?.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []) ?? [];
    expect(secrets.toSorted()).toEqual([
      'READER_DATABASE_URL',
      'S3_VERIFY_ACCESS_KEY_ID',
      'S3_VERIFY_SECRET_ACCESS_KEY',
    ]);
    expect(JSON.stringify(container?.env)).not.toMatch(/postgres(ql)?:/);
  });
});

describe('Temporal’s port, which has no authentication', () => {
  it('In docker compose, Temporal’s port is unpublished; API, worker, PostgreSQL and Temporal’s services reach it', () => {
    const { services } = compose();
    const temporal = new Set(services.temporal?.networks);
    const near = Object.entries(services).filter(([, { networks }]) => networks.some((name) => temporal.has(name)));
    const own = ['temporal', 'temporal-namespace', 'temporal-schema', 'temporal-ui'];
    // PostgreSQL is there as Temporal's database; it opens no connections itself.
    expect(near.map(([name]) => name).toSorted()).toEqual(['api', 'postgresql', ...own, 'worker']);
    expect(services.temporal?.ports).toEqual([]);
  });

  it('In docker compose, API and worker can mount certificates for a Temporal that runs elsewhere', () => {
    const { services } = Override.parse(parse('deploy/compose/temporal-tls.yml')[0]);
    expect(Object.keys(services)).toEqual(['api', 'worker']);
    for (const { environment, volumes } of Object.values(services)) {
      const mounted = volumes?.[0]?.split(':').at(-2);
      const paths = Object.entries(environment ?? {}).filter(([name]) => name.endsWith('_PATH'));
      expect(paths.map(([name]) => name)).toEqual([...certificateFiles]);
      for (const [, path] of paths) expect(path).toMatch(new RegExp(`^${mounted}/`));
    }
  });

  it('In docker compose, Temporal’s web UI is read-only and published only on loopback', () => {
    const ui = compose().services['temporal-ui'];
    expect(ui?.environment).toMatchObject({ TEMPORAL_DISABLE_WRITE_ACTIONS: 'true' });
    for (const port of ui?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('On Kubernetes, Temporal’s port admits only Temporal, API, workers and KEDA, and our pods use TLS', () => {
    const policies = objects().filter(({ kind }) => kind === 'NetworkPolicy');
    const namespaced = z.looseObject({ metadata: z.looseObject({ namespace: z.literal('temporal') }) });
    const [temporal, web, ...others] = policies.filter((policy) => namespaced.safeParse(policy).success);
    expect(others).toEqual([]);
    expect(web).toMatchObject({ spec: { ingress: [{ ports: [{ port: 8080 }] }] } });
    const [own, ours, scaling, metrics] = z
      .looseObject({ spec: z.looseObject({ podSelector: z.strictObject({}), ingress: z.array(z.unknown()) }) })
      .parse(temporal).spec.ingress;
    expect(own).toEqual({ from: [{ podSelector: {} }] });
    expect(ours).toMatchObject({ ports: [{ protocol: 'TCP', port: 7233 }] });
    expect(scaling).toEqual({
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'keda' } } }],
      ports: [{ protocol: 'TCP', port: 7233 }],
    });
    expect(metrics).toMatchObject({ ports: [{ protocol: 'TCP', port: 9090 }] });
    expect(JSON.stringify(ours)).toContain('"values":["api","worker"]');
    const data = configMap();
    expect(data.TEMPORAL_TLS).toBe('true');
    for (const name of ['amanah-api', 'amanah-worker']) {
      const pod = workloads().find((workload) => workload.name === name)?.pod;
      const [{ volumeMounts }] = z
        .looseObject({ containers: z.tuple([z.looseObject({ volumeMounts: z.array(Mount) })]) })
        .parse(pod).containers;
      const mount = volumeMounts.find(({ name: volume }) => volume === 'temporal-tls');
      for (const variable of ['SERVER_CA_CERT', 'CLIENT_CERT', 'CLIENT_KEY']) {
        expect(data[`TEMPORAL_TLS_${variable}_PATH`]?.startsWith(`${mount?.mountPath}/`)).toBe(true);
      }
    }
  });

  it('On Kubernetes, network policies open only the ports that API and worker need', () => {
    const Policy = z.looseObject({
      kind: z.literal('NetworkPolicy'),
      metadata: z.looseObject({ name: z.string() }),
      spec: z.looseObject({
        ingress: z.array(z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })) })).optional(),
      }),
    });
    const ports = Object.fromEntries(
      objects().flatMap((document) => {
        const { data } = Policy.safeParse(document);
        if (!data?.metadata.name.startsWith('amanah')) return [];
        return [[data.metadata.name, (data.spec.ingress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port))]];
      }),
    );
    expect(ports).toEqual({
      amanah: [],
      'amanah-api': [3000, 3003],
      'amanah-egress': [],
      'amanah-worker': [3001, 3002],
    });
  });
});

describe('Confinement in docker-compose.yml', () => {
  it('Every service in docker-compose.yml drops capabilities and has a read-only root with its own /tmp', () => {
    for (const [name, service] of Object.entries(compose().services)) {
      expect([name, service.cap_drop, service.security_opt]).toEqual([name, ['ALL'], ['no-new-privileges:true']]);
      expect([name, service.cap_add.length > 0]).toEqual([name, name === 'postgresql']);
      expect([name, service.read_only]).toEqual([name, true]);
      const isOnDisk = name === 'api' && service.volumes.includes('uploads:/tmp');
      expect([name, isOnDisk || service.tmpfs.includes('/tmp')]).toEqual([name, true]);
    }
  });

  it('Our own services in docker-compose.yml run as a non-root user', () => {
    const { services } = compose();
    for (const name of ['api', 'worker', 'migrate', 'verify', 'sandbox'])
      expect([name, services[name]?.user]).toEqual([name, 'node']);
  });

  it('Third-party images in docker-compose.yml can be replaced by variables, for example to pin a digest', () => {
    for (const [name, { image }] of Object.entries(compose().services)) {
      if (image !== undefined && image !== 'amanah')
        expect([name, image]).toEqual([name, expect.stringMatching(/^\$\{\w+_IMAGE:-[^}]+\}$/)]);
    }
    expect(read('Dockerfile')).toMatch(/^ARG NODE_IMAGE=\S+\nFROM \$\{NODE_IMAGE\} AS base$/m);
  });
});

describe('The Kubernetes example', () => {
  it('The kustomization lists every file of the Kubernetes example', () => {
    const list = parse('deploy/kubernetes/kustomization.yaml')[0];
    const { resources } = z.looseObject({ resources: z.array(z.string()) }).parse(list);
    const files = kubernetesFiles.map((path) => path.replace('deploy/kubernetes/', ''));
    expect([...resources, 'kustomization.yaml'].toSorted()).toEqual(files.toSorted());
  });

  it('The Kubernetes example runs our image without root, on a read-only file system and with secrets by reference', () => {
    const secretsOf: Record<string, number> = {
      'amanah-api': 8,
      'amanah-migrate': ofMigrations.length,
      'amanah-verify': 3,
      // Only the worker has the sealing key.
      'amanah-worker': 8,
    };
    expect(
      workloads()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Object.keys(secretsOf));
    for (const { name: workload, pod } of workloads()) {
      const [{ env, command }] = pod.containers;
      const file = command.at(-1) ?? '';
      expect(globSync(file, { cwd: root })).toEqual([file]);
      const secret = env.filter(({ name }) =>
        /SECRET|DATABASE_URL|TOKEN|ENCRYPTION_KEYS|ACCESS_KEY|SIGNING_KEY/.test(name),
      );
      expect([workload, secret.length]).toEqual([workload, secretsOf[workload]]);
      if (workload === 'amanah-migrate') expect(secret.map(({ name }) => name).toSorted()).toEqual(ofMigrations);
      expect(workload !== 'amanah-migrate' && secret.some(({ name }) => name.startsWith('MIGRATION'))).toBe(false);
      // `verify` has credentials of its own for the file store.
      const keyOf = (name: string) => (workload === 'amanah-verify' ? name.replace(/^S3_/, 'S3_VERIFY_') : name);
      for (const { name, valueFrom } of secret) expect(valueFrom?.secretKeyRef?.key).toBe(keyOf(name));
    }
  });

  it('The Kubernetes example probes API and worker, and gives them longer than their shutdown budget to stop', () => {
    const drainSeconds = Math.max(
      budgets.shutdown.requests / 1000 + 5,
      budgets.shutdown.steps / 1000,
      budgets.shutdown.process / 1000,
    );
    for (const { kind, pod } of workloads()) {
      if (kind !== 'Deployment') continue;
      const { containers, terminationGracePeriodSeconds } = pod;
      expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds);
      expect(containers[0].readinessProbe?.httpGet.path).toBe('/readyz');
      expect(containers[0].livenessProbe?.httpGet.path).toBe('/healthz');
    }
  });
});

describe('Workers that only send webhooks', () => {
  const directory = 'deploy/kubernetes/queues';
  const of = (kind: string, name: string, documents: z.infer<typeof Anything>[]) =>
    documents.find((document) => document.kind === kind && document.metadata?.name === name);
  const anythingOf = (path: string) => parse(path).map((document) => Anything.parse(document));
  const everyQueue = stepQueues.toSorted();

  it('Webhook workers on Kubernetes differ from other workers only in name, component and queue', () => {
    const { kind, resources, patches } = Kustomization.parse(parse(`${directory}/kustomization.yaml`)[0]);
    expect([kind, resources]).toEqual(['Component', ['webhooks.yaml']]);
    const files = ['kustomization.yaml', ...resources, ...patches.map(({ path }) => path)];
    expect(globSync(`${directory}/*.yaml`, { cwd: root }).toSorted()).toEqual(
      files.map((file) => `${directory}/${file}`).toSorted(),
    );
    const own = anythingOf(`${directory}/webhooks.yaml`);
    expect(own.map((document) => document.kind)).toEqual(['Deployment', 'PodDisruptionBudget', 'NetworkPolicy']);
    for (const document of own) {
      const others = JSON.stringify(of(document.kind, 'amanah-worker', objects()))
        .replaceAll('"amanah-worker"', '"amanah-worker-webhooks"')
        .replaceAll('/component":"worker"', '/component":"worker-webhooks"')
        .replace('"ledger,provider,webhooks,background"', '"webhooks"');
      expect(document).toEqual(JSON.parse(others));
    }
  });

  it('Webhook workers and the other workers together poll every queue once', () => {
    const WithQueues = z.looseObject({
      metadata: z.looseObject({ name: z.literal('amanah-worker') }),
      spec: z.object({
        template: z.object({
          spec: z.object({ containers: z.tuple([z.object({ name: z.literal('worker'), env: z.array(Variable) })]) }),
        }),
      }),
    });
    const { spec } = WithQueues.parse(parse(`${directory}/others.yaml`)[0]);
    const [patched, ...rest] = spec.template.spec.containers[0].env;
    expect([patched?.name, rest]).toEqual(['WORKER_QUEUES', []]);
    expect([...(patched?.value?.split(',') ?? []), 'webhooks'].toSorted()).toEqual(everyQueue);
    const { services } = Override.parse(parse('deploy/compose/queues.yml')[0]);
    const queuesOf = (name: string) => services[name]?.environment?.WORKER_QUEUES?.split(',') ?? [];
    expect(queuesOf('worker-webhooks')).toEqual(['webhooks']);
    expect([...queuesOf('worker'), 'webhooks'].toSorted()).toEqual(everyQueue);
  });

  it('In docker compose, webhook workers extend the worker, and the API waits until they are healthy', () => {
    expect(parse('deploy/compose/queues.yml')).toEqual([
      {
        services: {
          worker: { environment: { WORKER_QUEUES: expect.any(String) } },
          'worker-webhooks': {
            extends: { file: 'docker-compose.yml', service: 'worker' },
            environment: { WORKER_QUEUES: 'webhooks' },
          },
          api: { depends_on: { 'worker-webhooks': { condition: 'service_healthy' } } },
        },
      },
    ]);
  });

  it('Webhook workers in docker compose get the other worker’s settings for the pooler and for TLS', () => {
    for (const name of ['pooler', 'temporal-tls']) {
      const { worker } = Override.parse(parse(`deploy/compose/${name}.yml`)[0]).services;
      expect(worker?.environment).not.toEqual({});
      const { services } = Override.parse(parse(`deploy/compose/queues-${name}.yml`)[0]);
      expect(services).toEqual({ 'worker-webhooks': worker });
    }
  });

  it('Temporal’s network policy admits webhook workers by the same rule as API and workers', () => {
    const Rule = z.looseObject({
      from: z.array(z.looseObject({ podSelector: z.looseObject({ matchExpressions: z.array(z.looseObject({})) }) })),
    });
    const Policy = z.looseObject({ spec: z.looseObject({ ingress: z.array(z.unknown()) }) });
    const { ingress } = Policy.parse(of('NetworkPolicy', 'temporal', objects())).spec;
    const [, component] = Rule.parse(ingress[1]).from[0]?.podSelector.matchExpressions ?? [];
    expect(component).toMatchObject({ key: 'app.kubernetes.io/component', values: ['api', 'worker'] });
    const at = '/spec/ingress/1/from/0/podSelector/matchExpressions/1';
    expect(parse(`${directory}/temporal.yaml`)[0]).toEqual([
      { op: 'test', path: `${at}/key`, value: 'app.kubernetes.io/component' },
      { op: 'add', path: `${at}/values/-`, value: 'worker-webhooks' },
    ]);
  });

  it('The pooler’s network policy admits webhook workers', () => {
    const pooler = readFileSync(join(root, 'deploy/kubernetes/pooler/pooler.yaml'), 'utf8');
    expect(pooler).toContain('key: app.kubernetes.io/component, operator: In, values: [api, worker, worker-webhooks]');
  });

  it('Webhook workers scale with the webhooks queue, and the other workers with the other queues', () => {
    const Scaled = z.looseObject({
      kind: z.literal('ScaledObject'),
      spec: z.looseObject({
        scaleTargetRef: Named,
        triggers: z.array(z.looseObject({ metadata: z.looseObject({ taskQueue: z.string() }) })),
      }),
    });
    const scaledIn = (path: string) => Scaled.parse(anythingOf(path).find(({ kind }) => kind === 'ScaledObject')).spec;
    const [all, own] = [
      scaledIn('deploy/kubernetes/autoscaling/workers.yaml'),
      scaledIn(`${directory}/autoscaling/webhooks.yaml`),
    ];
    const queues = all.triggers.map(({ metadata }) => metadata.taskQueue);
    expect(queues.toSorted()).toEqual(stepQueues.map((queue) => taskQueueOf('payments', queue)).toSorted());
    const left = queues.indexOf('payments-webhooks');
    expect(parse(`${directory}/autoscaling/others.yaml`)[0]).toEqual([
      { op: 'test', path: `/spec/triggers/${left}/metadata/taskQueue`, value: 'payments-webhooks' },
      { op: 'remove', path: `/spec/triggers/${left}` },
    ]);
    expect(own).toEqual({ ...all, scaleTargetRef: { name: 'amanah-worker-webhooks' }, triggers: [all.triggers[left]] });
  });
});

describe('Node', () => {
  const commandOf = (service: 'api' | 'worker') => ['node', ...serviceNodeOptions, `src/${service}.ts`];

  it.each(['api', 'worker'] as const)(
    'Node runs the %s with the same options on Kubernetes, in docker compose, by npm run and by npm start',
    (service) => {
      const expected = commandOf(service);
      const workload = workloads().find(({ name }) => name === `amanah-${service}`);
      expect(workload?.pod.containers[0].command).toEqual(expected);
      expect(compose().services[service]?.command).toEqual(expected);
      const { scripts } = z
        .object({ scripts: z.record(z.string(), z.string()) })
        .parse(JSON.parse(read('package.json')));
      expect(scripts[service]).toBe(expected.join(' '));
    },
  );

  it('The image runs the API with the same Node options as npm start', () => {
    expect(read('Dockerfile')).toContain(`\nCMD ${JSON.stringify(commandOf('api')).replaceAll(',', ', ')}\n`);
  });
});

describe('The Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('The last stage of the Dockerfile uses a prebuilt bundle, a non-root user and production dependencies', () => {
    expect(last).toContain('USER node');
    expect(last.findIndex((line) => line.startsWith('USER'))).toBeLessThan(
      last.findIndex((line) => line.startsWith('CMD')),
    );
    expect(last.join('\n')).toContain('WORKFLOW_BUNDLE=/app/dist/workflows.js');
    expect(last.join('\n')).toContain('NODE_ENV=production');
    expect(last).toContain('COPY --from=dependencies /app/node_modules node_modules');
    expect(lines.join('\n')).toMatch(/AS dependencies\nRUN .*npm ci --omit=dev/);
    expect(last.filter((line) => line.startsWith('COPY')).join('\n')).not.toMatch(/COPY (\.|dev|test) /);
  });

  it('The Dockerfile copies src, workflows and activities, and .dockerignore excludes secrets', () => {
    const copied = last.flatMap((line) => /^COPY (?:--\S+ )?(\S+) /.exec(line)?.[1] ?? []);
    expect(copied).toEqual(expect.arrayContaining(['src', 'workflows', 'activities']));
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.env', '.amanah', 'node_modules']));
  });

  it('The product imports only production dependencies, which the Dockerfile installs', () => {
    const { dependencies } = z
      .looseObject({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    const files = globSync(['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts'], { cwd: root });
    const imported = new Set<string>();
    for (const file of files) {
      for (const [, name = ''] of read(file).matchAll(/^(?:import|export) (?!type )[^;]*?from '([^.][^']*)';/gms)) {
        const parts = name.split('/');
        imported.add(name.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? ''));
      }
    }
    const foreign = [...imported].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
    expect(foreign.filter((name) => !(name in dependencies))).toEqual([]);
  });
});
