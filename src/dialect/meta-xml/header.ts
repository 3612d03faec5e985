/** META → header (dialect.md, "Envelope"). */
import type { Header } from '../../domain/message.ts';
import type { FaultLog } from './faults.ts';
import type { LeafReader } from './leaves.ts';
import type { Profile } from './profile-schema.ts';
import type { XmlElement } from './reader.ts';
import type { ValueReader } from './values.ts';

/** Longest counter accepted: a few digits more than anyone sends, and short enough for an index. */
const SEQUENCE = /^\d{1,40}$/;
const CODE = /^[A-Z]{2,6}$/;
const SENDER_LENGTH = 8;

type Field = keyof Header;
type Envelope = Profile['envelope'];

/** Fields that must be there; of several missing the first in this order is named. */
const REQUIRED = ['sender', 'sequence', 'dttm', 'type', 'subtype'] as const satisfies readonly Field[];

/** Reads META: faulty values go into the account in document order, missing fields after them. */
export function readHeader(root: XmlElement, envelope: Envelope, leaves: LeafReader): Header | null {
  const { faults } = leaves;
  const meta =
    root.name === envelope.root ? root.children.find((child) => child.name === envelope.meta) : undefined;
  if (meta === undefined) {
    faults.missing('meta-missing', envelope.meta, `no ${envelope.meta} under ${envelope.root}`, root.offset);
    return null;
  }
  const names = fieldNames(envelope);
  for (const child of meta.children) if (!names.has(child.name)) leaves.unknown(envelope.meta, child.name);
  const header = readFields(meta, names, leaves.values, faults);
  // A value that is there but faulty is not missing as well.
  for (const field of REQUIRED) {
    const name = envelope[field === 'dttm' ? 'time' : field];
    const written = meta.children.findLast((child) => child.name === name);
    if (written === undefined || (written.text === '' && written.children.length === 0)) {
      faults.missing('meta-missing', name, `${name} is missing or empty in ${envelope.meta}`, meta.offset);
    }
  }
  const { sender, sequence, dttm, type, subtype, echo = null } = header;
  if (!faults.empty || sender === undefined || sequence === undefined || dttm === undefined) return null;
  if (type === undefined || subtype === undefined) return null;
  return { sender, sequence, dttm, type, subtype, echo };
}

/** META as far as it can be read, of a text that is no document; null where nothing can. */
export function readPartialHeader(
  root: XmlElement | null,
  envelope: Envelope,
  values: ValueReader,
): Partial<Header> | null {
  const meta = root?.children.find((child) => child.name === envelope.meta);
  if (root?.name !== envelope.root || meta === undefined) return null;
  const header = readFields(meta, fieldNames(envelope), values, null);
  return Object.keys(header).length === 0 ? null : header;
}

function fieldNames(envelope: Envelope): ReadonlyMap<string, Field> {
  const names = new Map<string, Field>([
    [envelope.sender, 'sender'],
    [envelope.sequence, 'sequence'],
    [envelope.time, 'dttm'],
    [envelope.type, 'type'],
    [envelope.subtype, 'subtype'],
  ]);
  if (envelope.echo !== null) names.set(envelope.echo, 'echo');
  return names;
}

/** The valid fields; of one that stands there twice the later wins. */
function readFields(
  meta: XmlElement,
  names: ReadonlyMap<string, Field>,
  values: ValueReader,
  faults: FaultLog | null,
): Partial<Header> {
  const header: { -readonly [F in Field]?: string } = {};
  for (const child of meta.children) {
    const field = names.get(child.name);
    if (field === undefined) continue;
    Reflect.deleteProperty(header, field);
    if (child.text === '' && child.children.length === 0) continue;
    const read = readField(field, child.text, values);
    if (read.ok) header[field] = read.value;
    else faults?.bad(read.reason, child.name, `${child.name} ${read.message}`, child.offset);
  }
  return header;
}

function readField(field: Field, text: string, values: ValueReader): ReturnType<ValueReader['time']> {
  switch (field) {
    case 'sender':
      // Characters, not UTF-16 units.
      return text !== '' && text.length <= 2 * SENDER_LENGTH && Array.from(text).length <= SENDER_LENGTH
        ? { ok: true, value: text }
        : { ok: false, reason: 'unknown-format', message: `has not 1 to ${SENDER_LENGTH} characters` };
    case 'sequence':
    case 'echo':
      return SEQUENCE.test(text)
        ? { ok: true, value: text.replace(/^0+(?=\d)/, '') }
        : { ok: false, reason: 'unknown-format', message: 'is no decimal number of at most 40 digits' };
    case 'dttm':
      return values.time(text);
    case 'type':
    case 'subtype':
      return CODE.test(text)
        ? { ok: true, value: text }
        : { ok: false, reason: 'unknown-format', message: 'has not 2 to 6 upper-case letters' };
  }
}
