import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  causeOf,
  cloudEventHeaders,
  messageEventBody,
  messageEventValue,
  publishedFlight,
  scheduleEventValue,
} from '../../src/domain/event.ts';
import { eventSchema, schemaFiles } from '../../src/domain/event-schema.ts';
import { eventId, msgId } from '../../src/domain/ids.ts';
import type { FlightChange } from '../../src/domain/flight.ts';
import {
  anyFlightMessage,
  deletion,
  F1,
  list,
  operation,
  patch,
  scalar,
  schedule,
  throughJsonb,
  World,
} from './kit.ts';

const OPEN = { vipPersons: true };
const MASKED = { vipPersons: false };

function validator(name: 'msg' | 'schd', variant: 'open' | 'strict'): (value: unknown) => string | null {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const validate = ajv.compile(eventSchema(name, variant));
  return (value) => (validate(value) ? null : ajv.errorsText(validate.errors));
}

function changeOf(world: World, id: number, message: Parameters<World['run']>[1]): FlightChange {
  const decision = world.run(id, message);
  if (decision.state !== 'SUCCEEDED') throw new Error(decision.state);
  return decision.flights[0]!;
}

const CAUSE = causeOf(msgId(7n), 'AODB|FLOP|TRML|1', {
  sender: 'AODB',
  sequence: '1',
  dttm: '2026-03-14T06:00:00+08:00',
  type: 'FLOP',
  subtype: 'TRML',
  echo: null,
});

describe('event values', () => {
  it('carry the whole flight with the change, keys in the order of the contract', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const { after, event } = changeOf(world, 2, operation(patch(F1, scalar('externalStatus.code', 'DELAY'))));
    const stored = throughJsonb(messageEventBody(after, event!, CAUSE, OPEN));
    const value = messageEventValue(eventId(9_007_199_254_740_993n), stored);
    expect(Object.keys(value)).toEqual(
      'eventId eventType flid operationDay stateVersion updatedAt cause changed flight'.split(' '),
    );
    expect(value).toMatchObject({
      eventId: '9007199254740993',
      eventType: 'UPSERT',
      flid: F1,
      operationDay: '2026-03-14',
      stateVersion: 2,
      cause: {
        msgId: '7',
        identity: 'AODB|FLOP|TRML|1',
        type: 'FLOP',
        styp: 'TRML',
        dttm: '2026-03-14T06:00:00+08:00',
      },
      changed: ['externalStatus.code'],
    });
    expect(JSON.stringify(value.flight)).toBe(JSON.stringify(after.state));
    expect(validator('msg', 'strict')(value)).toBeNull();
  });

  it('carry no flight in a tombstone; the newest state of a deleted flight is null', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    expect(scheduleEventValue(world.flight(F1), OPEN)).toMatchObject({ flid: F1, stateVersion: 1 });
    const { after, event } = changeOf(world, 2, deletion(F1));
    const value = messageEventValue(eventId(1n), messageEventBody(after, event!, null, OPEN));
    expect(value).toMatchObject({ eventType: 'TOMBSTONE', cause: null, changed: ['deleted'], flight: null });
    expect(validator('msg', 'strict')(value)).toBeNull();
    expect(scheduleEventValue(after, OPEN)).toBeNull();
  });

  it('hide the person codes of VIPs, and nothing else, unless they may be named', () => {
    const world = new World();
    world.run(1, schedule([patch(F1, list('vips', { code: 'VP1', entourage: 3 }))]));
    const { state } = world.flight(F1);
    expect(publishedFlight(state, OPEN)['vips']).toEqual([{ code: 'VP1', entourage: 3 }]);
    const masked = publishedFlight(state, MASKED);
    expect(masked['vips']).toEqual([{ code: null, entourage: 3 }]);
    expect({ ...masked, vips: state['vips'] }).toEqual(state);
    expect(Object.keys(masked)).toEqual(Object.keys(state));
    expect(JSON.stringify(scheduleEventValue(world.flight(F1), MASKED))).not.toContain('VP1');
  });

  it('fit their schemas, whatever happens to flights', () => {
    const msg = validator('msg', 'strict');
    const schd = validator('schd', 'strict');
    fc.assert(
      fc.property(fc.array(anyFlightMessage, { maxLength: 6 }), (messages) => {
        const world = new World();
        messages.forEach((message, index) => {
          const decision = world.run(index + 1, message);
          for (const { after, event } of decision.state === 'SUCCEEDED' ? decision.flights : []) {
            if (event !== null) {
              const body = messageEventBody(after, event, CAUSE, MASKED);
              expect(msg(messageEventValue(eventId(BigInt(index)), body))).toBeNull();
            }
            expect(schd(scheduleEventValue(after, MASKED))).toBeNull();
          }
        });
      }),
      { numRuns: 50 },
    );
  });
});

describe('headers', () => {
  it('are CloudEvents 1.0 in binary mode', () => {
    const sent = {
      eventId: eventId(12n),
      value: 'msg',
      airport: 'CTU',
      flid: F1,
      time: '2026-03-14T06:00:00+08:00',
    } as const;
    expect(cloudEventHeaders({ ...sent, type: 'UPSERT' })).toEqual({
      ce_specversion: '1.0',
      ce_id: '12',
      ce_type: 'msgx.flight.upsert.v1',
      ce_source: '/msgx/CTU',
      ce_subject: F1,
      ce_time: '2026-03-14T06:00:00+08:00',
      ce_dataschema: 'urn:msgx:schemas:v1:msg',
      'content-type': 'application/json',
    });
    expect(cloudEventHeaders({ ...sent, type: 'TOMBSTONE' })['ce_type']).toBe('msgx.flight.tombstone.v1');
  });
});

describe('schemas', () => {
  it('in schemas/v1 are those of the catalogue; else run scripts/generate-schemas.ts', async () => {
    const files = schemaFiles();
    expect([...files.keys()]).toEqual(['msg.schema.json', 'schd.schema.json']);
    for (const [name, text] of files) {
      expect(await readFile(new URL(`../../schemas/v1/${name}`, import.meta.url), 'utf8')).toBe(text);
    }
  });

  it('require every field; only the open ones allow more', () => {
    const world = new World();
    world.run(1, schedule([patch(F1, list('gates', { seq: 1, code: '04' }))]));
    const value = throughJsonb(scheduleEventValue(world.flight(F1), OPEN)!);
    const more = { ...value, flight: { ...value.flight, news: 1 } };
    expect(validator('schd', 'open')(more)).toBeNull();
    expect(validator('schd', 'strict')(more)).toContain('additional properties');
    const less = Object.fromEntries(Object.entries(value.flight).filter(([key]) => key !== 'terminal'));
    expect(validator('schd', 'open')({ ...value, flight: less })).toContain("'terminal'");
    const gateless = { ...value.flight, gates: [{ seq: 1, code: '04' }] };
    expect(validator('schd', 'open')({ ...value, flight: gateless })).toContain("'plannedFrom'");
    expect(
      validator('schd', 'open')({ ...value, flight: { ...value.flight, scheduledTime: '14MAR26' } }),
    ).toContain('pattern');
    expect(validator('schd', 'open')({ ...value, flight: { ...value.flight, movement: 'X' } })).toContain(
      'allowed values',
    );
  });

  it('tie the flight to the kind of event', () => {
    const world = new World();
    const { after, event } = changeOf(world, 1, schedule([patch(F1)]));
    const value = messageEventValue(eventId(1n), messageEventBody(after, event!, null, OPEN));
    const valid = validator('msg', 'open');
    expect(valid(value)).toBeNull();
    expect(valid({ ...value, flight: null })).not.toBeNull();
    expect(valid({ ...value, eventType: 'TOMBSTONE' })).not.toBeNull();
  });
});
