/** The payload of a message, by kind (dialect.md, "Kinds" and the sections on each payload). */
import type { Flid } from '../../domain/ids.ts';
import type { Body, FlightPatch, Header, ReferenceRecord } from '../../domain/message.ts';
import { recordBody } from './content.ts';
import { readFlid, readFlightRecord } from './flight-record.ts';
import { bodyName, type Kind } from './kinds.ts';
import { shortName, type LeafReader } from './leaves.ts';
import type { Profile } from './profile-schema.ts';
import type { XmlElement } from './reader.ts';
import type { RecordVocabulary } from './vocabulary.ts';

/** Longest code of a reference record: it is part of a key. */
const KEY_LENGTH = 200;

/** A body, and the push and tractor elements in it that name no stand. */
export interface BodyContent {
  readonly body: Body;
  readonly unmatchedStands: number;
}

/** Reads payloads of one profile. */
export class BodyReader {
  readonly #profile: Profile;
  readonly #vocabulary: RecordVocabulary;

  constructor(profile: Profile, vocabulary: RecordVocabulary) {
    this.#profile = profile;
    this.#vocabulary = vocabulary;
  }

  /** Reads a payload; what is wrong with it goes into the account of `leaves`, and then the body means nothing. */
  read(root: XmlElement, header: Header, kind: Kind, leaves: LeafReader): BodyContent {
    switch (kind.kind) {
      case 'ignored':
      case 'unsupported':
        return { body: { kind: kind.kind }, unmatchedStands: 0 };
      case 'schedule':
        return this.#schedule(root, header, kind.subtype, leaves);
      case 'operation':
        return this.#operation(root, header, kind.elements, leaves);
      case 'deletion':
        return { body: this.#deletion(root, header, leaves), unmatchedStands: 0 };
      case 'reference':
        return { body: this.#reference(root, header, kind.operation, leaves), unmatchedStands: 0 };
    }
  }

  #schedule(
    root: XmlElement,
    header: Header,
    subtype: 'DNLD' | 'RESP' | 'ADFT',
    leaves: LeafReader,
  ): BodyContent {
    const spec = this.#profile.kinds.schedule;
    const name = bodyName(spec.payload, header);
    const payloads = this.#payloads(root, [name], leaves);
    if (payloads.length === 0) this.#missing(name, root, leaves);
    const records: FlightPatch[] = [];
    let declared: string | null = null;
    let unmatchedStands = 0;
    // A second payload element is read like the first: RECS then tells whether all of them were meant.
    for (const child of payloads.flatMap((payload) => payload.children)) {
      if (child.name === spec.count) declared = child.text === '' ? null : child.text;
      else if (child.name === spec.record) {
        const read = readFlightRecord(child, `${name}/${spec.record}`, this.#vocabulary, leaves);
        for (const required of spec.required)
          if (isBlank(child, required)) this.#missing(required, child, leaves);
        unmatchedStands += read.unmatchedStands;
        if (read.flid !== null) records.push({ flid: read.flid, writes: read.writes });
      } else leaves.unknown(name, child.name);
    }
    return { body: { kind: 'schedule', subtype, declared, records }, unmatchedStands };
  }

  #operation(root: XmlElement, header: Header, elements: readonly string[], leaves: LeafReader): BodyContent {
    const name = bodyName(this.#profile.kinds.operation.record, header);
    const payloads = this.#payloads(root, [name], leaves);
    if (payloads.length === 0) this.#missing(name, root, leaves);
    const records: FlightPatch[] = [];
    let unmatchedStands = 0;
    for (const payload of payloads) {
      const read = readFlightRecord(payload, name, this.#vocabulary, leaves);
      this.#requireKey(payload, leaves);
      if (!payload.children.some((child) => elements.includes(child.name))) {
        this.#missing(header.subtype, payload, leaves);
      }
      unmatchedStands += read.unmatchedStands;
      if (read.flid !== null) records.push({ flid: read.flid, writes: read.writes });
    }
    return { body: { kind: 'operation', subtype: header.subtype, records }, unmatchedStands };
  }

  #deletion(root: XmlElement, header: Header, leaves: LeafReader): Body {
    const names = this.#profile.kinds.deletion.records.map((name) => bodyName(name, header));
    const payloads = this.#payloads(root, names, leaves);
    // An empty marker may stand beside the record that names the flight.
    const filled = payloads.filter((payload) => payload.children.length > 0);
    const records = filled.length > 0 ? filled : payloads;
    if (records.length === 0) this.#missing(header.type, root, leaves);
    const flids: Flid[] = [];
    for (const record of records) {
      let named: Flid | null = null;
      for (const child of record.children) {
        if (child.name === this.#profile.flight.key) named = readFlid(child, leaves);
        else if (!this.#vocabulary.has(child.name)) leaves.unknown(record.name, child.name);
      }
      this.#requireKey(record, leaves);
      if (named !== null) flids.push(named);
    }
    return { kind: 'deletion', flids };
  }

  #reference(
    root: XmlElement,
    header: Header,
    operation: 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL',
    leaves: LeafReader,
  ): Body {
    const spec = this.#profile.kinds.reference;
    const name = bodyName(spec.record, header);
    const keyName = Object.hasOwn(spec.keys, header.type) ? spec.keys[header.type] : undefined;
    let declared: string | null = null;
    const records: ReferenceRecord[] = [];
    for (const child of this.#payloads(root, [spec.count, name], leaves)) {
      if (child.name === spec.count) {
        declared = child.text === '' ? null : child.text;
        continue;
      }
      const key =
        keyName === undefined ? child.children[0] : child.children.find((member) => member.name === keyName);
      if (key === undefined || (key.text === '' && key.children.length === 0)) {
        this.#missing(shortName(key?.name ?? keyName ?? name), child, leaves);
      } else if (key.text === '' || key.text.length > KEY_LENGTH) {
        const message = `the code is no text of 1 to ${KEY_LENGTH} characters`;
        leaves.faults.bad('unknown-format', shortName(key.name), message, key.offset);
      } else records.push({ key: key.text, body: recordBody(child) });
    }
    return { kind: 'reference', rtype: header.type, operation, declared, records };
  }

  /** The elements under the root of the names given; the others but META are not known. */
  #payloads(root: XmlElement, names: readonly string[], leaves: LeafReader): readonly XmlElement[] {
    const { meta } = this.#profile.envelope;
    let metaSeen = false;
    return root.children.filter((child) => {
      if (names.includes(child.name)) return true;
      // Only the first META is read.
      if (child.name !== meta || metaSeen) leaves.unknown('', child.name);
      else metaSeen = true;
      return false;
    });
  }

  #requireKey(record: XmlElement, leaves: LeafReader): void {
    const { key } = this.#profile.flight;
    if (isBlank(record, key)) this.#missing(key, record, leaves);
  }

  #missing(name: string, within: XmlElement, leaves: LeafReader): void {
    const where = shortName(within.name);
    leaves.faults.missing('payload-missing', name, `${name} is missing or empty in ${where}`, within.offset);
  }
}

/** Whether a child is missing or empty; of several the last counts, because it is the one that wins. */
function isBlank(record: XmlElement, name: string): boolean {
  const child = record.children.findLast((candidate) => candidate.name === name);
  return child === undefined || (child.text === '' && child.children.length === 0);
}
