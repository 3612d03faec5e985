/**
 * Messages that must be refused, of each class one after the other. None carries anything the day needs, and each
 * has one fault only, so that its class is certain (decisions.md, "Order of judgement").
 */
import { scheduleRecord, schedulePayload } from './schedule.ts';
import type { FlightPlan } from './flights.ts';
import type { DayTimes } from './local-time.ts';
import type { Random } from './random.ts';
import { referencePayload } from './reference-data.ts';
import { record } from './script.ts';
import type { PoisonClass } from './steps.ts';
import { leaf, message, node, type Meta } from './xml.ts';

export interface PoisonContext {
  readonly times: DayTimes;
  readonly airport: string;
  readonly random: Random;
  /** A flight of the schedule that has been sent; every one of them is known to the receiver. */
  readonly flight: FlightPlan;
  readonly dttm: string;
  /** Takes the sender's next number. */
  readonly sequence: () => string;
}

export interface Poison {
  readonly what: string;
  readonly text: string;
}

const CLASSES: readonly PoisonClass[] = ['MALFORMED', 'CODEC_ERROR', 'PROTOCOL'];

/** The class of the n-th poisoned message: equal parts, whatever their number. */
export function poisonClass(number: number): PoisonClass {
  return CLASSES[number % CLASSES.length] ?? 'MALFORMED';
}

/** A message that ends in the class. */
export function poison(errorClass: PoisonClass, context: PoisonContext): Poison {
  const { what, write } = context.random.pick(KINDS[errorClass]);
  return { what, text: write(context) };
}

interface Kind {
  readonly what: string;
  readonly write: (context: PoisonContext) => string;
}

const KINDS: Readonly<Record<PoisonClass, readonly Kind[]>> = {
  MALFORMED: [
    {
      what: 'not-well-formed: an element that is not closed',
      write: (context) => update(context, 'RENO', '<RENO>B0009').replace('</FLOP>', '</FLOP'),
    },
    {
      what: 'not-well-formed: a bare ampersand',
      write: (context) => update(context, 'REMC', '<REMC>A & B</REMC>'),
    },
    {
      what: 'not-well-formed: cut off',
      write: (context) => {
        const text = update(context, 'REMC', '<REMC>旅客登机完毕</REMC>');
        return text.slice(0, Math.floor(text.length * 0.8));
      },
    },
    {
      what: 'bad-value: a day that does not exist',
      write: (context) => update(context, 'APPT', leaf('APPT', '31FEB260800')),
    },
    {
      what: 'bad-value: a minute that does not exist',
      write: (context) => update(context, 'ESTM', leaf('ESTM', `${context.times.body(0).slice(0, 7)}2460`)),
    },
    {
      what: 'payload-missing: the element of the subtype',
      write: (context) => update(context, 'GTDT', leaf('RENO', context.flight.registration)),
    },
    {
      what: 'payload-missing: the flight',
      write: (context) => message(meta(context, 'FLOP', 'REMC'), node('FLOP', leaf('REMC', 'whose?'))),
    },
    {
      what: 'payload-missing: the scheduled time',
      write: (context) =>
        message(
          meta(context, 'SCHD', 'ADFT'),
          schedulePayload([original(context).replace(/<SODT>[^<]*<\/SODT>/, '')]),
        ),
    },
    {
      what: 'meta-missing: no counter',
      write: (context) =>
        message(
          { ...meta(context, 'FLOP', 'RENO'), sequence: null },
          record(context.flight, leaf('RENO', 'B0010')),
        ),
    },
    {
      what: 'doctype-forbidden',
      write: (context) =>
        update(context, 'REMC', '<REMC>text</REMC>').replace(
          '<MSG ',
          '<!DOCTYPE MSG [<!ENTITY a "aaaaaaaa">]>\n<MSG ',
        ),
    },
  ],
  CODEC_ERROR: [
    {
      what: 'unknown-format: another notation of time',
      write: (context) => update(context, 'ESTM', leaf('ESTM', `${context.times.day} 08:40`)),
    },
    {
      what: 'unknown-format: a count in words',
      write: (context) => update(context, 'MAXP', leaf('MAXP', 'many')),
    },
    {
      what: 'unknown-value: a port neither open nor closed',
      write: (context) =>
        update(
          context,
          'PORT',
          node('PORT', leaf('POTM', context.times.body(context.flight.scheduled)) + leaf('POID', 'X')),
        ),
    },
    {
      what: 'unknown-value: a movement neither arrival nor departure',
      write: (context) =>
        message(
          meta(context, 'SCHD', 'ADFT'),
          schedulePayload([original(context).replace(/<MVIN>[AD]<\/MVIN>/, '<MVIN>X</MVIN>')]),
        ),
    },
  ],
  PROTOCOL: [
    {
      what: 'recs-mismatch: a schedule',
      write: (context) =>
        message(
          meta(context, 'SCHD', 'DNLD'),
          schedulePayload([original(context)]).replace('<RECS>1<', '<RECS>2<'),
        ),
    },
    {
      what: 'recs-mismatch: reference data',
      write: (context) =>
        message(
          meta(context, 'GLST', 'ADD'),
          referencePayload([node('GLST', leaf('GATE', 'G99') + leaf('DESC', 'Gate G99'))], 3),
        ),
    },
    {
      what: 'duplicate-flid',
      write: (context) =>
        message(meta(context, 'SCHD', 'ADFT'), schedulePayload([original(context), original(context)])),
    },
    {
      what: 'operation-day-conflict: a schedule',
      write: (context) =>
        message(
          meta(context, 'SCHD', 'DNLD'),
          schedulePayload([original(context).replace(/<SODT>[^<]*<\/SODT>/, otherDay(context))]),
        ),
    },
    {
      what: 'operation-day-conflict: an update',
      write: (context) => update(context, 'RENO', leaf('RENO', 'B0011') + otherDay(context)),
    },
  ],
};

function update(context: PoisonContext, subtype: string, elements: string): string {
  return message(meta(context, 'FLOP', subtype), record(context.flight, elements));
}

function original({ flight, airport, times }: PoisonContext): string {
  return scheduleRecord(flight, airport, times);
}

/** Noon two days later: another operation day whatever the cutoff, and no clock changes at noon. */
function otherDay({ times }: PoisonContext): string {
  return leaf('SODT', times.body(times.length + 1440 + 720));
}

function meta(context: PoisonContext, type: string, subtype: string): Meta {
  return { sender: 'AODB', sequence: context.sequence(), dttm: context.dttm, type, subtype };
}
