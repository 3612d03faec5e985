/**
 * Whatever a client sends, it is answered as the OpenAPI document says: never by a server's error, and a refusal says
 * what is wrong. `MSGX_TEST_API_FUZZ_RUNS=20000 MSGX_TEST_SEED=7` for more; a failure prints how to repeat it.
 */
import { Agent, request as ask } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { STATIONS } from '../../src/runtime/station.ts';
import { gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { undescribed } from './described.ts';
import { operationsOf, requests, type FuzzedRequest } from './fuzz.ts';

const RUNS = Number(process.env['MSGX_TEST_API_FUZZ_RUNS'] ?? 300);
const SEED = Number(process.env['MSGX_TEST_SEED'] ?? 20260314);
const PATH = process.env['MSGX_TEST_PATH'];

/** Whose bodies can be of the right form and still name what there is not: 400 in these as well. */
const JUDGED = ['requestSchedule', 'requestReference', 'republish'];

describe.skipIf(postgresMissing !== null)('the API under all sorts of requests', () => {
  let pipeline: TestPipeline;
  let running: Running;
  const log: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });

  beforeAll(async () => {
    pipeline = await createPipeline({ onLog: (line) => log.push(line) });
    running = await pipeline.start();
    await pipeline.mailbox.insertAll([schedule('700001', '700002'), gate('700001', 'A1'), '<MSG']);
    await pipeline.drained();
  });
  afterAll(async () => {
    agent.destroy();
    await pipeline.close();
  });

  /** Sends it as it is: `fetch` would mend the path and refuse some headers. */
  function answerTo({ method, path, headers: given, body }: FuzzedRequest): Promise<Response> {
    const { port } = new URL(running.url);
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...given, ...length };
    return new Promise((resolve, reject) => {
      const asked = ask({ agent, host: '127.0.0.1', port, path, method, headers }, (answer) => {
        const parts: Buffer[] = [];
        const { statusCode = 0, headers: told } = answer;
        const done = () => {
          const bytes = [204, 304].includes(statusCode) ? null : Buffer.concat(parts);
          const type = told['content-type'];
          resolve(
            new Response(bytes, {
              ...{ status: statusCode, headers: type === undefined ? {} : { 'content-type': type } },
            }),
          );
        };
        if (told['content-type']?.startsWith('text/event-stream') === true) {
          answer.destroy();
          done();
          return;
        }
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', done);
        answer.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(body ?? undefined);
    });
  }

  /** What is wrong with an answer; null where nothing is. */
  async function faultOf(request: FuzzedRequest, answer: Response): Promise<string | null> {
    const { status } = answer;
    if (status >= 500) return `${String(status)} ${await answer.text()}`;
    const { pathname } = new URL(request.path, running.url);
    const other = await undescribed(request.method, running.url + pathname, answer);
    if (other !== null) return other;
    if (request.kind === 'valid' && status === 400 && !JUDGED.includes(request.operation)) {
      return `a request as described was refused: ${await answer.text()}`;
    }
    if (status < 400 || request.method === 'HEAD') return null;
    const body = await answer.text();
    const { error, message } = JSON.parse(body) as Partial<Record<string, unknown>>;
    const told = error ?? message;
    return typeof told === 'string' && told.length > 8 ? null : `${String(status)} says nothing: ${body}`;
  }

  it('answers all of them, and goes on', async () => {
    const document = (await (await fetch(`${running.url}/api/openapi.json`)).json()) as JsonObject;
    const operations = operationsOf(document);
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(requests(operations), async (request) => {
        const answer = await answerTo(request);
        expect(await faultOf(request, answer)).toBeNull();
        met.add(request.operation);
        met.add(`${request.kind} ${String(answer.status)}`);
      }),
      {
        ...{ numRuns: RUNS, seed: SEED },
        ...(PATH === undefined ? {} : { path: PATH }),
      },
    );
    expect(log.filter((line) => /unexpected error/.test(line))).toEqual([]);
    if (PATH !== undefined) return;
    expect(operations.filter(({ name }) => !met.has(name))).toEqual([]);
    for (const one of ['valid 200', 'valid 409', 'nearly 400', 'nearly 404', 'hostile 400', 'hostile 404']) {
      expect([...met]).toContain(one);
    }
    for (const station of STATIONS) {
      await fetch(`${running.url}/api/v1/stations/${station}/resume`, {
        ...{ method: 'POST', body: '{"reason":"after the fuzz"}' },
      });
    }
    await pipeline.mailbox.insert(gate('700002', 'Z9'));
    await pipeline.drained();
    const flight = await fetch(`${running.url}/api/v1/flights/700002`);
    expect(await flight.json()).toMatchObject({ flight: { gates: [{ code: 'Z9' }] } });
  }, 3_600_000);
});
