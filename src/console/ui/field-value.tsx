/** A value of the catalogue: times short and with their day where it is another, the rest as it is. */
import type { ReactNode } from 'react';
import type { FieldType } from '../../domain/fields.ts';
import { flightTime } from '../model/time.ts';

interface FieldValueProps {
  readonly value: string;
  readonly type: FieldType;
  readonly day: string;
}

export function FieldValue({ value, type, day }: FieldValueProps): ReactNode {
  if (type !== 'time' || value === '') return value;
  const { dayShift } = flightTime(value, day);
  const seconds = value.slice(17, 19);
  return (
    <time dateTime={value} title={value}>
      {value.slice(11, 16)}
      {seconds !== '00' && seconds !== '' && `:${seconds}`}
      {dayShift !== 0 && <span className="quiet"> {value.slice(5, 10)}</span>}
    </time>
  );
}
