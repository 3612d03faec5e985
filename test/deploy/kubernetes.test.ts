import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { Registry } from 'prom-client';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { VARIABLES } from '../../src/config/keys.ts';
import { Access } from '../../src/http/access.ts';
import { registerHealth } from '../../src/http/routes/health.ts';
import { VERSION } from '../../src/service/version.ts';
import { commandLine } from './commands.ts';
import { faultsOf } from './kubernetes-schemas.ts';

const text = readFileSync(new URL('../../deploy/kubernetes/msgx.yaml', import.meta.url), 'utf8');
// As kubectl reads it: 0440 is octal.
const objects = parseAllDocuments(text, { version: '1.1', uniqueKeys: true }).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Record<string, unknown>;
});
const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  timeoutSeconds: z.number(),
});
const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  volumeMounts: z.array(
    z.object({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() }),
  ),
});
const podSpec = z.object({
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.number(), fsGroup: z.number() }),
  initContainers: z.array(container).default([]),
  containers: z.array(container),
  volumes: z.array(
    z.object({
      name: z.string(),
      configMap: z.object({ name: z.string() }).optional(),
      secret: z.object({ secretName: z.string() }).optional(),
    }),
  ),
});
const labels = z.record(z.string(), z.string());
const pod = z.object({ metadata: z.object({ labels }), spec: podSpec });

const find = (kind: string) => objects.find((object) => object['kind'] === kind);
const deployment = z
  .object({
    spec: z.object({ replicas: z.number(), selector: z.object({ matchLabels: labels }), template: pod }),
  })
  .parse(find('Deployment')).spec;
const cronJob = z
  .object({ spec: z.object({ jobTemplate: z.object({ spec: z.object({ template: pod }) }) }) })
  .parse(find('CronJob')).spec.jobTemplate.spec;
const service = z
  .object({ spec: z.object({ selector: labels, ports: z.array(z.object({ targetPort: z.string() })) }) })
  .parse(find('Service')).spec;
const budget = z
  .object({ spec: z.object({ minAvailable: z.number(), selector: z.object({ matchLabels: labels }) }) })
  .parse(find('PodDisruptionBudget')).spec;
const configMap = z.object({ data: z.record(z.string(), z.string()) }).parse(find('ConfigMap')).data;
const secret = z.object({ stringData: z.record(z.string(), z.string()) }).parse(find('Secret')).stringData;

const pods = [deployment.template, cronJob.template];
const containers = pods.flatMap(({ spec }) => [...spec.initContainers, ...spec.containers]);
const [msgx] = deployment.template.spec.containers;

/** The configuration as the container reads it. */
function configuration() {
  const directory = mkdtempSync(join(tmpdir(), 'msgx-kubernetes-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, value] of Object.entries(secret)) writeFileSync(join(directory, name), value);
  const file = join(directory, 'msgx.yaml');
  writeFileSync(file, configMap['msgx.yaml']?.replaceAll('/run/secrets/msgx', directory) ?? '');
  return loadConfig({ file, env: {} });
}

describe('the example for Kubernetes', () => {
  it.each(objects.map((object) => [String(object['kind']), object]))(
    '%s is what the API of Kubernetes takes',
    (_, object) => {
      expect(faultsOf(object)).toEqual([]);
    },
  );

  it('holds a configuration that msgx takes, without a warning', () => {
    expect(configuration()).toMatchObject({ ok: true, warnings: [] });
  });

  it('runs an active instance and a standby, and never evicts both', () => {
    expect(deployment.replicas).toBe(2);
    expect(budget.minAvailable).toBe(1);
    const { labels } = deployment.template.metadata;
    expect(deployment.selector.matchLabels).toEqual(labels);
    expect(budget.selector.matchLabels).toEqual(labels);
    expect(service.selector).toEqual(labels);
    // A daily audit is no instance that takes requests.
    expect(cronJob.template.metadata.labels).not.toEqual(labels);
  });

  it('asks for ports and paths that answer', async () => {
    const config = configuration();
    if (!config.ok) throw new Error(config.faults.join('\n'));
    const { host, port } = config.config.http.listen;
    expect(host).toBe('0.0.0.0');
    const named = new Map(msgx?.ports.map(({ name, containerPort }) => [name, containerPort]));
    const probes = [msgx?.livenessProbe, msgx?.readinessProbe];
    for (const { targetPort } of service.ports) expect(named.get(targetPort)).toBe(port);
    for (const probe of probes) expect(named.get(probe?.httpGet.port ?? '')).toBe(port);
    const app = fastify();
    registerHealth(app, {
      access: await Access.load(null),
      registry: new Registry(),
      refresh: () => Promise.resolve(),
      readiness: () =>
        Promise.resolve({
          role: 'standby',
          mailbox: 'ok',
          database: 'ok',
          delivery: 'ok',
          ackAgeSeconds: null,
        }),
      stuck: () => [],
    });
    for (const probe of probes) expect((await app.inject(probe?.httpGet.path ?? '')).statusCode).toBe(200);
    expect(probes.map((probe) => probe?.httpGet.path)).toEqual(['/healthz', '/readyz']);
    // /readyz waits up to 5 s for a dependency that is silent.
    expect(msgx?.readinessProbe?.timeoutSeconds).toBeGreaterThan(5);
  });

  it('leaves time for the orderly end of 10 s', () => {
    expect(deployment.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(10);
  });

  it('runs this version, with commands and variables that there are', async () => {
    const commands = (await commandLine()).commands.map((command) => command.name());
    for (const { name, image, args, env } of containers) {
      expect(image, name).toBe(`registry.example/msgexchange:${VERSION}`);
      expect(commands, name).toContain(args[0]);
      const grants = name === 'migrate' ? ['--grants', '/app/deploy/postgres/grants.sql'] : [];
      expect(args.slice(1), name).toEqual(['-c', '/etc/msgx/msgx.yaml', ...grants]);
      for (const variable of env) expect(VARIABLES, name).toContain(variable.name);
    }
  });

  it('mounts what its configuration reads, whole, so that a changed token is seen', () => {
    for (const { spec } of pods) {
      for (const { volumeMounts } of [...spec.initContainers, ...spec.containers]) {
        const mounted = new Map(volumeMounts.map((mount) => [mount.mountPath, mount]));
        const volume = (path: string) => spec.volumes.find(({ name }) => name === mounted.get(path)?.name);
        expect(volume('/etc/msgx')?.configMap?.name).toBe('msgx');
        expect(volume('/run/secrets/msgx')?.secret?.secretName).toBe('msgx');
        expect(mounted.get('/run/secrets/msgx')?.subPath).toBeUndefined();
      }
    }
  });

  it("gives the owner's secret to the migration alone", () => {
    const [migration] = deployment.template.spec.initContainers;
    expect(migration?.env.map(({ name }) => name)).toEqual(['MSGX_DATABASE_URL_FILE']);
    const owners = (all: readonly { volumeMounts: readonly { name: string; mountPath: string }[] }[]) =>
      all.flatMap(({ volumeMounts }) => volumeMounts).filter(({ name }) => name === 'owner');
    expect(owners([...(migration === undefined ? [] : [migration])])).toEqual([
      expect.objectContaining({ mountPath: '/run/secrets/msgx-owner' }),
    ]);
    for (const { spec } of pods) expect(owners(spec.containers)).toEqual([]);
    expect(cronJob.template.spec.volumes.map(({ name }) => name)).not.toContain('owner');
    expect(secret['database.url']).toContain('//msgx_service:');
  });

  it('is refused with a key or a value that the API does not know', () => {
    const wrong = structuredClone(find('PodDisruptionBudget'));
    Object.assign(wrong ?? {}, {
      spec: { minAvailable: 1, selectors: {}, selector: { matchLabels: { a: 1 } } },
    });
    expect(faultsOf(wrong ?? {})).toEqual([
      expect.stringContaining('/spec/selector/matchLabels/a: type'),
      '/spec/selectors: unknown to policy/v1 PodDisruptionBudget',
    ]);
  });
});
