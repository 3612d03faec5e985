/** The events as consumers see them (contract, "Delivery"): values of both targets and CloudEvents headers. */
import { entriesOf, canonicalise } from './state.ts';
import type { FlightEvent, FlightRecord, FlightState } from './flight.ts';
import type { EventId, Flid, MsgId } from './ids.ts';
import type { Header } from './message.ts';
import type { NameRules, Names } from './names.ts';

/** The message that caused an event; null in an event for what no message caused (an archived flight). */
export interface Cause {
  readonly msgId: string;
  readonly identity: string;
  readonly type: string;
  readonly styp: string;
  /** ISO 8601 with the airport's offset. */
  readonly dttm: string;
}

/** Value of KAFKA:msg as it is stored: all but the event ID, which the database assigns. */
export interface MessageEventBody {
  readonly eventType: FlightEvent['type'];
  readonly flid: Flid;
  /** yyyy-MM-dd. */
  readonly operationDay: string;
  readonly stateVersion: number;
  /** ISO 8601 with the airport's offset, seconds. */
  readonly updatedAt: string;
  readonly cause: Cause | null;
  readonly changed: readonly string[];
  /** Null in a TOMBSTONE. */
  readonly flight: FlightState | null;
  /** Names of codes; absent unless they are published. */
  readonly names?: Names;
}

/** Value of KAFKA:msg as it is sent. */
export interface MessageEventValue extends MessageEventBody {
  readonly eventId: string;
}

/** Value of KAFKA:schd; a deletion is a literal null instead. */
export interface ScheduleEventValue {
  readonly flid: Flid;
  readonly operationDay: string;
  readonly stateVersion: number;
  readonly updatedAt: string;
  readonly flight: FlightState;
  /** Names of codes; absent unless they are published. */
  readonly names?: Names;
}

/** What may leave the house (contract, `events.*`). */
export interface Publication {
  /** Whether VIP person codes are published; otherwise `vips[].code` is null. */
  readonly vipPersons: boolean;
  /** Where the names of codes are found; absent where events carry none. */
  readonly names?: NameRules;
}

/** Describes the causing message. */
export function causeOf(msgId: MsgId, identity: string, header: Header): Cause {
  return {
    msgId: msgId.toString(),
    identity,
    type: header.type,
    styp: header.subtype,
    dttm: header.dttm,
  };
}

/** The flight as published: catalogue order, every field present, VIP persons masked unless they may be named. */
export function publishedFlight(state: FlightState, { vipPersons }: Publication): FlightState {
  const flight = canonicalise(state);
  return vipPersons ? flight : maskVipPersons(flight);
}

/** The state with the person codes of its VIPs taken out; their number and entourage stay. */
export function maskVipPersons(state: FlightState): FlightState {
  const vips = entriesOf(state, 'vips');
  // Hardly any flight has one, and a copy of so many fields is not free.
  return vips.length === 0 ? state : { ...state, vips: vips.map((vip) => ({ ...vip, code: null })) };
}

/** Value of KAFKA:msg for a change of a flight, without the event ID. */
export function messageEventBody(
  record: FlightRecord,
  event: FlightEvent,
  cause: Cause | null,
  publication: Publication,
): MessageEventBody {
  return {
    eventType: event.type,
    flid: record.flid,
    operationDay: record.operationDay,
    stateVersion: record.version,
    updatedAt: record.updatedAt,
    cause,
    changed: event.changed,
    flight: event.type === 'TOMBSTONE' ? null : publishedFlight(record.state, publication),
  };
}

/** Value of KAFKA:msg with its event ID first. A body read back from jsonb is put in order as well. */
export function messageEventValue(eventId: EventId, body: MessageEventBody): MessageEventValue {
  return {
    eventId: eventId.toString(),
    eventType: body.eventType,
    flid: body.flid,
    operationDay: body.operationDay,
    stateVersion: body.stateVersion,
    updatedAt: body.updatedAt,
    cause: body.cause === null ? null : orderedCause(body.cause),
    changed: body.changed,
    flight: body.flight === null ? null : canonicalise(body.flight),
    ...(body.names === undefined ? {} : { names: body.names }),
  };
}

/** Value of KAFKA:schd: the newest state, or null where the flight is deleted. @param names where they are published */
export function scheduleEventValue(
  record: Pick<FlightRecord, 'flid' | 'operationDay' | 'version' | 'updatedAt' | 'deleted' | 'state'>,
  publication: Publication,
  names?: Names,
): ScheduleEventValue | null {
  if (record.deleted) return null;
  return {
    flid: record.flid,
    operationDay: record.operationDay,
    stateVersion: record.version,
    updatedAt: record.updatedAt,
    flight: publishedFlight(record.state, publication),
    ...(names === undefined ? {} : { names }),
  };
}

/** The two event values, as named in schemas and headers. */
export type EventValueName = 'msg' | 'schd';

/** Identifier of a value's schema, `$id` and `ce_dataschema` alike. */
export function schemaId(name: EventValueName): string {
  return `urn:msgx:schemas:v1:${name}`;
}

/** CloudEvents 1.0 headers, binary mode, of one send. */
export function cloudEventHeaders(sent: {
  readonly eventId: EventId;
  readonly value: EventValueName;
  readonly type: FlightEvent['type'];
  /** IATA code. */
  readonly airport: string;
  readonly flid: Flid;
  /** ISO 8601: `updatedAt` of the version sent. */
  readonly time: string;
}): Readonly<Record<string, string>> {
  return {
    ce_specversion: '1.0',
    ce_id: sent.eventId.toString(),
    ce_type: sent.type === 'TOMBSTONE' ? 'msgx.flight.tombstone.v1' : 'msgx.flight.upsert.v1',
    ce_source: `/msgx/${sent.airport}`,
    ce_subject: sent.flid,
    ce_time: sent.time,
    ce_dataschema: schemaId(sent.value),
    'content-type': 'application/json',
  };
}

function orderedCause({ msgId, identity, type, styp, dttm }: Cause): Cause {
  return { msgId, identity, type, styp, dttm };
}
