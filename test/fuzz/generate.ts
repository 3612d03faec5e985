/**
 * Inputs for the reader and the dialect: messages built from the profile's own vocabulary or taken from a
 * simulated day, then damaged in their structure, values, text and bytes. An input depends on seed and number alone.
 */
import type { Profile } from '../../src/dialect/meta-xml/profile-schema.ts';
import { randomStream, type Random } from '../../src/simulator/random.ts';

/** Elements of a message before it is written down. */
interface Node {
  name: string;
  attributes: [string, string][];
  children: Node[];
  /** As it stands in the XML, escapes included. */
  text: string;
}

export interface FuzzInput {
  readonly bytes: Buffer;
  /** As the mailbox would give it: not every text has bytes, one half of a surrogate pair has none. */
  readonly text: string;
}

const MIB = 1024 * 1024;
const VALUES = [
  '', '0', '1', '-1', '08', '0E68', '1.5', '9'.repeat(20), '9'.repeat(4_000), '14MAR260805', '31FEB260800', '20260314080500',
  '202603142400', '0045', '0099', 'A', 'D', 'O', 'X', 'null', '航班', '\u{1F6EB}', ' \t\n', '__proto__', 'constructor', '&amp;', '&#65;', '&#x10FFFF;',
]; // prettier-ignore
const HOSTILE = [
  '&#0;', '&#xD800;', '&#x110000;', '&a;', '&', '<', ']]>', '<!DOCTYPE a [<!ENTITY a "aa">]>', '<![CDATA[<a>]]>', '<![CDATA[', '<!-- -- -->', '<!---->',
  '<?xml version="1.1"?>', '<?a?>', '\0', '\uFEFF', '\uFFFE', '\uD800', '\uDC00', '\r', '\r\n', '\u2028', '\u0001', '"', "'", '>', '/>', '</', '</MSG>', '<a:b:c/>', '<a a="" a=""/>',
  'xmlns="x"', 'xsi:a="b"', '\u00A0',
]; // prettier-ignore
const LABELS = [
  'utf-8',
  'GBK',
  'gb2312',
  'GB18030',
  'UTF-16',
  'latin1',
  'utf-7',
  'x\u0000',
  'ISO-2022-KR',
  '',
];

/** Makes inputs of one profile. */
export class Generator {
  readonly #seed: string;
  readonly #profile: Profile;
  readonly #samples: readonly string[];
  readonly #names: readonly string[];
  readonly #kinds: readonly (readonly [type: string, subtype: string])[];

  /** @param samples messages as an upstream would send them */
  constructor(seed: string, profile: Profile, samples: readonly string[]) {
    this.#seed = seed;
    this.#profile = profile;
    this.#samples = samples;
    this.#names = [...namesIn(profile)];
    const { schedule, operation, deletion, reference } = profile.kinds;
    this.#kinds = [
      ...Object.keys(schedule.subtypes).map((subtype) => [schedule.type, subtype] as const),
      ...Object.keys(operation.subtypes).map((subtype) => [operation.type, subtype] as const),
      ...Object.keys(reference.keys).map((type) => [type, 'DNLD'] as const),
      [deletion.type, 'NONE'],
      ['LDM', 'NONE'],
      ['NEWS', 'ADD'],
    ];
  }

  /** The input of a number. */
  input(index: number): FuzzInput {
    const random = randomStream(this.#seed, `fuzz ${String(index)}`);
    const root = random.chance(0.3) ? null : this.#message(random);
    if (root !== null) for (let left = random.int(0, 4); left > 0; left -= 1) this.#bend(root, random);
    let text = root === null ? pick(random, this.#samples) : written(root);
    if (random.chance(0.004)) text = this.#huge(random);
    for (let left = random.int(0, 3); left > 0; left -= 1) text = damage(text, random);
    if (random.chance(0.1)) text = `<?xml version="1.0" encoding="${pick(random, LABELS)}"?>${text}`;
    const bytes = encoded(text, random);
    for (let left = random.chance(0.2) ? random.int(1, 4) : 0; left > 0 && bytes.length > 0; left -= 1) {
      bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
    }
    return { bytes: random.chance(0.05) ? bytes.subarray(0, random.int(0, bytes.length)) : bytes, text };
  }

  /** A message that is legal, or nearly so. */
  #message(random: Random): Node {
    const { envelope, kinds, flight } = this.#profile;
    const [type, subtype] = pick(random, this.#kinds);
    const meta = node(envelope.meta, [
      leaf(envelope.sender, 'AODB'),
      leaf(envelope.sequence, String(random.int(0, 999_999))),
      leaf(envelope.time, '20260314060000'),
      leaf(envelope.type, type),
      leaf(envelope.subtype, subtype),
    ]);
    const record = (name: string): Node => {
      const children = [leaf(flight.key, String(random.int(1, 9)))];
      for (let left = random.int(0, 12); left > 0; left -= 1) children.push(this.#element(random, 2));
      for (const wanted of kinds.operation.subtypes[subtype] ?? []) {
        if (random.chance(0.8)) children.push({ ...this.#element(random, 1), name: wanted });
      }
      return node(name, children);
    };
    const times = random.int(0, 3);
    if (type === kinds.schedule.type) {
      const records = Array.from({ length: times }, () => record(kinds.schedule.record));
      const count = leaf(kinds.schedule.count, String(times));
      return node(envelope.root, [meta, node(type, [count, ...records])]);
    }
    return node(envelope.root, [meta, ...Array.from({ length: times }, () => record(type))]);
  }

  #element(random: Random, depth: number): Node {
    const element = leaf(pick(random, this.#names), random.chance(0.7) ? pick(random, VALUES) : '');
    for (let left = random.int(0, 2); left > 0; left -= 1) {
      element.attributes.push([pick(random, this.#names), pick(random, VALUES)]);
    }
    if (depth > 0 && random.chance(0.4)) {
      for (let left = random.int(1, 4); left > 0; left -= 1)
        element.children.push(this.#element(random, depth - 1));
    }
    return element;
  }

  /** One change of a tree: something taken away, doubled, moved, renamed, nested, revalued. */
  #bend(root: Node, random: Random): void {
    const all = flat(root);
    const one = pick(random, all);
    const other = pick(random, all);
    const at = random.int(0, one.children.length);
    const changes: readonly (() => void)[] = [
      () => one.children.splice(at, 1),
      () => one.children.push(...structuredClone(one.children)),
      () => one.children.push(structuredClone(other)),
      () => one.children.reverse(),
      () => (one.name = pick(random, ['', '__proto__', 'x:y', 'a'.repeat(5_000), '航', ...this.#names])),
      () => (one.text = random.chance(0.5) ? pick(random, VALUES) : pick(random, HOSTILE)),
      () =>
        one.attributes.push([pick(random, ['a', 'xmlns', 'GTNO']), pick(random, [...VALUES, ...HOSTILE])]),
      () => (one.children = [deep(one.children, random.int(1, 100), pick(random, this.#names))]),
      () => one.children.push(...Array.from({ length: random.int(1, 300) }, () => this.#element(random, 0))),
    ];
    pick(random, changes)();
  }

  /** Millions of something small, in different places, up to a little more than the limit. */
  #huge(random: Random): string {
    const name = pick(random, this.#names);
    const unit = pick(random, [
      'x', '航', '&amp;', '&#65;', '<![CDATA[x]]>', '<!--x-->', '<?a?>', '\n', '\r', ']', `<${name}/>`, '<a/>', `<${name} GTNO="1">1</${name}>`,
      `<${name}>14MAR260805</${name}>`, '<META/>', '<FLOP/>', '<FLTR><FLID>1</FLID></FLTR>', '<DELY CODE="1"/>', '<a>'.repeat(40) + '</a>'.repeat(40), ' a=""', ' ',
    ]); // prettier-ignore
    const [type, subtype] = pick(random, this.#kinds);
    const frame = written(
      node('MSG', [
        node('META', [
          leaf('SNDR', 'A'),
          leaf('SEQN', '1'),
          leaf('DTTM', '202603140600'),
          leaf('TYPE', type),
          leaf('STYP', subtype),
        ]),
        node(type, [leaf('FLID', '1'), leaf(name, '|')]),
      ]),
    );
    const size = random.int(1, 82) * (MIB / 10);
    const filling = unit.repeat(Math.floor(size / Buffer.byteLength(unit)));
    const inside = pick(random, [
      '|',
      `<${name}>|</${name}>`,
      '</META>',
      '<FLID>1</FLID>',
      `<${name}`,
      '</MSG>',
      '<MSG>',
    ]);
    return frame.replace(inside, () => (inside.includes('|') ? filling : inside + filling));
  }
}

/** Upper-case names anywhere in a profile: elements, attributes, types. */
function namesIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') {
    const name = /^@?([A-Z][A-Z0-9]{2,5})$/.exec(value)?.[1];
    if (name !== undefined) found.add(name);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      namesIn(key, found);
      namesIn(member, found);
    }
  }
  return found;
}

function damage(text: string, random: Random): string {
  const from = random.int(0, text.length);
  const to = Math.min(text.length, from + random.int(0, 60));
  const changes: readonly (() => string)[] = [
    () => text.slice(0, from),
    () => text.slice(from),
    () => text.slice(0, from) + text.slice(to),
    () => text.slice(0, from) + pick(random, HOSTILE) + text.slice(from),
    () => text.slice(0, from) + text.slice(from, to).repeat(random.int(2, 50)) + text.slice(to),
    () => text.slice(0, from) + String.fromCharCode(random.int(0, 0xffff)) + text.slice(from),
    () => pick(random, HOSTILE) + text,
    () => text + pick(random, HOSTILE),
  ];
  return pick(random, changes)();
}

function encoded(text: string, random: Random): Buffer {
  switch (random.int(0, 9)) {
    case 0:
      return Buffer.from(`\uFEFF${text}`, 'utf16le');
    case 1:
      return Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
    case 2:
      return Buffer.from(text, 'latin1');
    case 3:
      return Buffer.from(text, 'utf16le');
    default:
      return Buffer.from(text, 'utf8');
  }
}

function written({ name, attributes, children, text }: Node): string {
  const head = name + attributes.map(([key, value]) => ` ${key}="${value}"`).join('');
  return `<${head}>${text}${children.map(written).join('')}</${name}>`;
}

function deep(children: Node[], levels: number, name: string): Node {
  let inner = node(name, children);
  for (let left = levels; left > 0; left -= 1) inner = node(name, [inner]);
  return inner;
}

function flat(root: Node): readonly [Node, ...Node[]] {
  return [root, ...root.children.flatMap(flat)];
}

function node(name: string, children: Node[]): Node {
  return { name, attributes: [], children, text: '' };
}

function leaf(name: string, text: string): Node {
  return { name, attributes: [], children: [], text };
}

function pick<T>(random: Random, from: readonly T[]): T {
  const found = from[random.int(0, from.length - 1)];
  if (found === undefined) throw new Error('nothing to choose from');
  return found;
}
