/** The AsyncAPI 3 document of both topics (contract, "Delivery"), beside the JSON Schemas that it names. */
import { schemaId, type EventValueName } from './event.ts';
import type { JsonObject } from './json.ts';

/** Of the schemas in this folder. */
const SCHEMA_FORMAT = 'application/schema+json;version=draft-2020-12';

/** The file of `schemas/v1`. */
export function asyncApiFile(): string {
  return `${JSON.stringify(asyncApiDocument(), null, 2)}\n`;
}

export function asyncApiDocument(): JsonObject {
  return {
    asyncapi: '3.0.0',
    id: 'urn:msgx:events:v1',
    info: {
      title: 'Events of msgexchange',
      version: '1',
      description:
        'What msgexchange tells about flights, in Kafka or, line by line, in a journal. Schemas only ever gain fields that ' +
        'consumers may pass over; a breaking change is a new topic beside the old one. See docs/consumer-guide.md.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      msg: channel('flight.msg', 'delivery.kafka.topic-msg', 'One event per flight and message.', {
        upsert: { $ref: '#/components/messages/upsert' },
        tombstone: { $ref: '#/components/messages/tombstone' },
      }),
      schd: channel(
        'flight.schd',
        'delivery.kafka.topic-schd',
        'The newest state of each flight. The topic is compacted; a flight is deleted by a null value.',
        {
          state: { $ref: '#/components/messages/state' },
          deletion: { $ref: '#/components/messages/deletion' },
        },
        { topicConfiguration: { 'cleanup.policy': ['compact'] } },
      ),
    },
    operations: {
      tellChange: operation('msg', 'Tells each visible change, in the order of the versions of a flight.'),
      tellState: operation('schd', 'Tells the newest state, overtaken ones left out.'),
    },
    components: {
      messages: {
        upsert: message('msg', 'upsert', 'A flight is new or has changed.', valueOf('msg')),
        tombstone: message('msg', 'tombstone', 'A flight is deleted: "flight" is null.', valueOf('msg')),
        state: message('schd', 'upsert', 'The newest state of a flight.', valueOf('schd')),
        deletion: message('schd', 'tombstone', 'A flight is deleted.', {
          ...{ schemaFormat: SCHEMA_FORMAT, schema: { type: 'null' } },
        }),
      },
    },
  };
}

function channel(
  address: string,
  key: string,
  description: string,
  messages: JsonObject,
  kafka: JsonObject = {},
): JsonObject {
  return {
    address,
    description: `${description} The name is that of msgx.${key}, which stands here with its default.`,
    messages,
    bindings: { kafka: { ...kafka, bindingVersion: '0.5.0' } },
  };
}

function operation(channelName: string, summary: string): JsonObject {
  return { action: 'send', channel: { $ref: `#/channels/${channelName}` }, summary };
}

function valueOf(name: EventValueName): JsonObject {
  return { schemaFormat: SCHEMA_FORMAT, schema: { $ref: `./${name}.schema.json` } };
}

function message(
  name: EventValueName,
  type: 'upsert' | 'tombstone',
  summary: string,
  payload: JsonObject,
): JsonObject {
  return {
    name: `msgx.flight.${type}.v1`,
    summary,
    contentType: 'application/json',
    headers: { schemaFormat: SCHEMA_FORMAT, schema: headersOf(name, type) },
    payload,
    bindings: {
      kafka: { key: { type: 'string', description: 'FLID.' }, bindingVersion: '0.5.0' },
    },
  };
}

/** CloudEvents 1.0, binary mode. */
function headersOf(name: EventValueName, type: 'upsert' | 'tombstone'): JsonObject {
  const properties = {
    ce_specversion: { const: '1.0' },
    ce_id: { type: 'string', pattern: '^\\d{1,19}$', description: 'eventId: new with each send to schd.' },
    ce_type: { const: `msgx.flight.${type}.v1` },
    ce_source: { type: 'string', pattern: '^/msgx/[A-Z]{3}$' },
    ce_subject: { type: 'string', description: 'FLID.' },
    ce_time: { type: 'string', format: 'date-time' },
    ce_dataschema: { const: schemaId(name) },
    'content-type': { const: 'application/json' },
  };
  return { type: 'object', properties, required: Object.keys(properties) };
}
