/** Judges objects of Kubernetes by the schemas of its API: wrong values, and keys that the API does not know. */
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as cronJob } from 'kubernetes-models/_schemas/IoK8sApiBatchV1CronJob';
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as podDisruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret';
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';

interface Validate {
  (data: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly keyword: string }[] | null;
}

const SCHEMAS: Readonly<Record<string, Validate>> = {
  'v1 ConfigMap': configMap,
  'v1 Secret': secret,
  'v1 Service': service,
  'apps/v1 Deployment': deployment,
  'policy/v1 PodDisruptionBudget': podDisruptionBudget,
  'batch/v1 CronJob': cronJob,
};

/** Everything wrong with one object, one line each. */
export function faultsOf(object: Readonly<Record<string, unknown>>): string[] {
  const kind = `${String(object['apiVersion'])} ${String(object['kind'])}`;
  const validate = SCHEMAS[kind];
  if (validate === undefined) return [`no schema of ${kind}`];
  const unread = new Set<string>();
  validate(watched(object, '', unread));
  const wrong = (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath}: ${keyword}`);
  return [...wrong, ...[...unread].map((path) => `${path}: unknown to ${kind}`)];
}

/**
 * The schemas pass over keys that they do not know, as the API does. What a validator never looks at is unknown to it.
 * `unread` is left with the paths of those.
 */
function watched<T>(value: T, path: string, unread: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value;
  const inner = new Map<string, unknown>();
  for (const [key, child] of Object.entries(value)) {
    const place = `${path}/${key}`;
    if (!Array.isArray(value)) unread.add(place);
    inner.set(key, watched(child as unknown, place, unread));
  }
  return new Proxy(value, {
    get(target, key, receiver) {
      if (typeof key !== 'string' || !inner.has(key)) return Reflect.get(target, key, receiver) as unknown;
      unread.delete(`${path}/${key}`);
      return inner.get(key);
    },
  });
}
