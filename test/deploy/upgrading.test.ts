import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A new API may send workflows what only new workers understand. */
describe('An upgrade replaces the workers before the API', () => {
  it('by docker compose, which starts the API when the worker is ready', () => {
    const Service = z.looseObject({ depends_on: z.record(z.string(), z.unknown()).default({}) });
    const Compose = z.looseObject({ services: z.looseObject({ api: Service, worker: Service }) });
    const { api, worker } = Compose.parse(parse(read('docker-compose.yml'), { merge: true })).services;
    expect(api.depends_on).toEqual({ ...worker.depends_on, worker: { condition: 'service_healthy' } });
    expect(Object.keys(worker.depends_on)).toContain('migrate');
  });

  it('on Kubernetes, by the commands of its README and the label of the API', () => {
    const [, ...commands] =
      /```sh\n(docker build.*?)```/s.exec(read('deploy/kubernetes/README.md'))?.[1]?.split('\n') ?? [];
    const steps = commands
      .filter((line) => /^kubectl (apply|wait|rollout)/.test(line))
      .map((line) => line.replace(/ --timeout=\S+/, ''));
    expect(steps).toEqual([
      "kubectl apply -k deploy/kubernetes -l 'app.kubernetes.io/component!=api'",
      'kubectl wait --for=condition=complete job/amanah-migrate',
      'kubectl rollout status deploy/amanah-worker',
      'kubectl apply -k deploy/kubernetes',
      'kubectl rollout status deploy/amanah-api',
    ]);
    const Labelled = z.looseObject({
      kind: z.string(),
      metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
    });
    const deployments = globSync('deploy/kubernetes/*.yaml', { cwd: root })
      .flatMap((file) => parseAllDocuments(read(file)).map((document) => document.toJS()))
      .filter((document) => document.kind === 'Deployment')
      .map((document) => Labelled.parse(document).metadata)
      .map(({ name, labels }) => [name, labels['app.kubernetes.io/component']]);
    expect(deployments).toEqual([
      ['amanah-api', 'api'],
      ['amanah-worker', 'worker'],
    ]);
  });
});
