import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A new API may send workflows messages that only new workers understand. */
describe('The order of an upgrade', () => {
  it('An upgrade by docker compose starts the API only once the worker is healthy', () => {
    const Service = z.looseObject({ depends_on: z.record(z.string(), z.unknown()).default({}) });
    const Compose = z.looseObject({ services: z.looseObject({ api: Service, worker: Service }) });
    const { api, worker } = Compose.parse(parse(read('docker-compose.yml'), { merge: true })).services;
    expect(api.depends_on).toEqual({ ...worker.depends_on, worker: { condition: 'service_healthy' } });
    expect(Object.keys(worker.depends_on)).toContain('migrate');
  });

  /** Returns the calls to a `kubectl` that fails where `failing` is in the command. */
  const askedOf = (command: string, failing: string) => {
    const directory = mkdtempSync(join(tmpdir(), 'amanah-rollout-'));
    const asked = join(directory, 'asked');
    const program = `#!/bin/sh
echo "$*" >> '${asked}'
case "$*" in
  *'${failing}'*) exit 1 ;;
  get*) printf 'deployment.apps/amanah-worker\\ndeployment.apps/amanah-worker-webhooks\\n' ;;
  'apply -f -') cat >> '${asked}' ;;
esac
`;
    writeFileSync(join(directory, 'kubectl'), program, { mode: 0o755 });
    const env = { ...process.env, PATH: `${directory}${delimiter}${process.env.PATH}` };
    const { status } = spawnSync('sh', ['-c', command], { cwd: root, env });
    const told = readFileSync(asked, 'utf8');
    rmSync(directory, { recursive: true });
    return { status, asked: told.trimEnd().split('\n') };
  };

  it('The Kubernetes rollout script replaces the workers before the API, and stops at a failed step', () => {
    const all = [
      'delete job amanah-migrate --ignore-not-found',
      'apply -k . -l app.kubernetes.io/component!=api',
      'wait --for=condition=complete job/amanah-migrate --timeout=15m',
      'get deployments -o name -l app.kubernetes.io/component in (worker, worker-webhooks)',
      'rollout status deployment.apps/amanah-worker --timeout=15m',
      'rollout status deployment.apps/amanah-worker-webhooks --timeout=15m',
      'apply -k .',
      'rollout status deployment.apps/amanah-api --timeout=10m',
    ];
    const script = 'deploy/kubernetes/rollout.sh';
    expect(askedOf(script, 'nothing')).toEqual({ status: 0, asked: all });
    expect(askedOf(script, 'wait --for')).toEqual({ status: 1, asked: all.slice(0, 3) });
    expect(askedOf(script, 'amanah-worker-webhooks')).toEqual({ status: 1, asked: all.slice(0, 6) });
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
  it('The Prometheus operator gets the rules of alerts.yml, with absolute runbook URLs', () => {
    const [, command = ''] = /```sh\n( *\{ printf .*?)```/s.exec(read('deploy/kubernetes/README.md')) ?? [];
    const [applied, ...text] = askedOf(command, 'nothing').asked;
    expect(applied).toBe('apply -f -');
    const ofFile = read('deploy/prometheus/alerts.yml').replaceAll(
      'docs/runbook/',
      'https://wiki.example.org/amanah/docs/runbook/',
    );
    expect(parse(text.join('\n'))).toMatchObject({ kind: 'PrometheusRule', spec: parse(ofFile) });
  });
});
