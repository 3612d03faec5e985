/** Which kind of message a header announces (dialect.md, "Kinds"). */
import type { Header } from '../../domain/message.ts';
import type { Rules } from './profile.ts';
import type { Profile } from './profile-schema.ts';

/** What is to be read of the payload. */
export type Kind =
  | { readonly kind: 'schedule'; readonly subtype: 'DNLD' | 'RESP' | 'ADFT' }
  /** `elements`: those of which each record must carry one. */
  | { readonly kind: 'operation'; readonly elements: readonly string[] }
  | { readonly kind: 'deletion' }
  | { readonly kind: 'reference'; readonly operation: 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL' }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsupported' };

/** Tells kinds apart. Ignore rules go first, then the kinds with a fixed TYPE, then reference types. */
export class KindTable {
  readonly #kinds: Profile['kinds'];
  readonly #ignore: ReadonlySet<string>;
  readonly #reference: ReadonlySet<string>;

  constructor(kinds: Profile['kinds'], rules: Rules) {
    this.#kinds = kinds;
    this.#ignore = new Set(rules.ignore);
    this.#reference = new Set(rules.reference);
  }

  /** The kind of a message. */
  kindOf({ type, subtype }: Pick<Header, 'type' | 'subtype'>): Kind {
    if (this.#ignore.has(type) || this.#ignore.has(`${type}/${subtype}`)) return { kind: 'ignored' };
    const { schedule, operation, deletion, reference } = this.#kinds;
    if (type === schedule.type) {
      const meaning = own(schedule.subtypes, subtype);
      return meaning === undefined ? { kind: 'unsupported' } : { kind: 'schedule', subtype: meaning };
    }
    if (type === deletion.type) return { kind: 'deletion' };
    if (type === operation.type) {
      if (deletion.subtypes.includes(subtype)) return { kind: 'deletion' };
      const elements = own(operation.subtypes, subtype);
      return elements === undefined ? { kind: 'unsupported' } : { kind: 'operation', elements };
    }
    if (this.#reference.has(type)) {
      const meaning = own(reference.subtypes, subtype);
      return meaning === undefined ? { kind: 'unsupported' } : { kind: 'reference', operation: meaning };
    }
    return { kind: 'unsupported' };
  }
}

/** A profile's element or payload name with the header put in. */
export function bodyName(name: string, { type, subtype }: Pick<Header, 'type' | 'subtype'>): string {
  if (name === '{TYPE}') return type;
  return name === '{STYP}' ? subtype : name;
}

/** A code from the upstream never reaches what an object inherits. */
function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
