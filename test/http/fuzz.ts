/** Requests made from an OpenAPI document: as it describes them, nearly so, and hostile. */
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts';

export interface FuzzedRequest {
  /** Name of the operation that it was made from. */
  readonly operation: string;
  /** Whether it is as the document wants it. */
  readonly kind: 'valid' | 'nearly' | 'hostile';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** An operation of the document. */
interface Operation {
  readonly name: string;
  readonly method: string;
  readonly template: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: JsonObject }[];
  readonly body: Readonly<Record<string, { schema: JsonObject }>>;
}

export function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(document['paths'] as JsonObject).flatMap(([template, methods]) =>
    Object.entries(methods as JsonObject).map(([method, told]): Operation => {
      const { operationId, parameters = [], requestBody } = told as JsonObject;
      const content = isJsonObject(requestBody) ? requestBody['content'] : {};
      return {
        name: operationId as string,
        method: method.toUpperCase(),
        template,
        parameters: parameters as unknown as Operation['parameters'],
        body: content as unknown as Operation['body'],
      };
    }),
  );
}

/** What real things are called here, so that not everything is unknown. */
const NAMES = [
  '700001',
  '1',
  '2',
  'ARPT',
  'PEK',
  'XX',
  'FLOP',
  'GTDT',
  'backfill',
  'station:',
  'http:operator',
];
const NASTY = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\u{1F6EB}',
    '\uD800',
    '\uFEFF',
    '%',
    '%zz',
    '%00',
    '..',
    '../../etc/passwd',
    '*',
    '\\',
  ],
  ...[
    "'",
    "' or 1=1 --",
    '"',
    '$1',
    '{}',
    '[]',
    'null',
    'true',
    'NaN',
    'Infinity',
    '-0',
    '1e400',
    '0x10',
    '__proto__',
  ],
  ...['9223372036854775807', '9223372036854775808', '99999999999999999999', '-1', '1.5', '١٢٣', '+1', '01'],
  ...[
    '2026-02-30',
    '0000-00-00',
    '0000-01-01',
    '-000001-01-01',
    '+275760-09-13',
    '9999-12-31',
    '99999-01-01',
  ],
  ...['infinity', 'now', '2026-03-14T24:00:00Z', '2026-03-14T23:59:60Z', '0001-01-01T00:00:00+14:59'],
  ...[
    '9999-12-31T23:59:59-14:59',
    'W10',
    'WyIiLCIiXQ',
    'WzEsMl0',
    'WyJcdTAwMDAiLCIiXQ',
    '\u202e',
    'a'.repeat(3_000),
  ],
];
const nasty = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer().map(String),
);
const nastyJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    -1,
    1.5,
    1e308,
    [],
    {},
    [[[[[[[[1]]]]]]]],
    { __proto__: 1 },
    [null],
    '',
  ),
  nasty,
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
);

/** Values that a schema allows. */
function valid(schema: JsonObject): fc.Arbitrary<Json> {
  const { type, enum: values, const: only, pattern, format, minimum, maximum, anyOf } = schema;
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...(values as readonly Json[]));
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: Number(minimum ?? 0), max: Number(maximum ?? 1_000) });
  if (type === 'array') {
    const minLength = Number(schema['minItems'] ?? 0);
    return fc.array(valid(schema['items'] as JsonObject), { minLength, maxLength: 5 });
  }
  if (type === 'object') return validObject(schema);
  const date = fc
    .date({ min: new Date('2026-03-01'), max: new Date('2026-03-30'), noInvalidDate: true })
    .map((at) => at.toISOString());
  const formats = [format, ...((anyOf ?? []) as readonly JsonObject[]).map((one) => one['format'])];
  if (formats.includes('date')) return date.map((at) => at.slice(0, 10));
  if (formats.includes('date-time')) return date;
  if (pattern === '^\\d{1,19}$') return fc.oneof(fc.nat({ max: 20 }), fc.nat()).map(String);
  if (typeof pattern === 'string' && pattern.endsWith('<')) return message;
  const free = fc.oneof(fc.constantFrom(...NAMES), fc.string({ minLength: 1, maxLength: 20 }));
  return pattern === undefined ? free : free.filter((text) => new RegExp(pattern as string).test(text));
}

/** A message, or something that begins like one. */
const message: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.nat({ max: 999 }), fc.constantFrom('LDM', 'FLOP', 'SCHD', 'REFE'), fc.string({ maxLength: 4 }))
    .map(
      ([sequence, type, subtype]) =>
        `<MSG><META><SNDR>AODB</SNDR><SEQN>${String(sequence)}</SEQN><DTTM>20260314060000</DTTM>` +
        `<TYPE>${type}</TYPE><STYP>${subtype.replaceAll(/[<&\0]/g, '')}</STYP></META></MSG>`,
    ),
  fc.string({ maxLength: 50 }).map((text) => `<${text.replaceAll('\0', '')}`),
);

/** With what `required`, one of `oneOf` and one of `anyOf` want, and nothing that the others of `oneOf` want. */
function validObject(schema: JsonObject): fc.Arbitrary<Json> {
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
  const ways = (schema['oneOf'] ?? [{ required: [] }]) as unknown as readonly {
    required: readonly string[];
  }[];
  const either = (schema['anyOf'] ?? [{}]) as unknown as readonly Partial<Record<string, Json>>[];
  return fc.tuple(fc.constantFrom(...ways), fc.constantFrom(...either)).chain(([way, one]) => {
    const others = ways.filter((each) => each !== way).flatMap(({ required }) => required);
    const narrowed = { ...properties, ...((one['properties'] ?? {}) as typeof properties) };
    const wanted = Object.entries(narrowed).filter(([name]) => !others.includes(name));
    const required = [
      schema['required'] ?? [],
      way.required,
      one['required'] ?? [],
    ].flat() as readonly string[];
    return fc.record(
      Object.fromEntries(wanted.map(([name, each]): [string, fc.Arbitrary<Json>] => [name, valid(each)])),
      { requiredKeys: [...required] },
    );
  });
}

interface Parts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string | null;
  readonly type: string | null;
}

function validParts({ parameters, body }: Operation): fc.Arbitrary<Parts> {
  const texts = (place: string) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place)
          .map(({ name, schema }): [string, fc.Arbitrary<string>] => [
            name,
            valid(schema).map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
          ]),
      ),
      {
        requiredKeys: parameters.filter((one) => one.in === place && one.required).map(({ name }) => name),
      },
    ) as fc.Arbitrary<Readonly<Record<string, string>>>;
  const types = Object.keys(body);
  const content: fc.Arbitrary<Pick<Parts, 'body' | 'type'>> =
    types.length === 0
      ? fc.constant({ body: null, type: null })
      : fc.constantFrom(...types).chain((type) =>
          valid(body[type]!.schema).map((value) => ({
            ...{ type, body: type.endsWith('json') ? JSON.stringify(value) : (value as string) },
          })),
        );
  return fc
    .record({ path: texts('path'), query: texts('query'), content })
    .map(({ path, query, content }) => ({ path, query: Object.entries(query), ...content }));
}

/** One thing is not as it should be. */
function spoiled(operation: Operation, parts: Parts): fc.Arbitrary<Parts> {
  const inPath = Object.keys(parts.path);
  const inQuery = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const ways: fc.Arbitrary<Parts>[] = [
    fc.tuple(nasty, nasty).map((pair) => ({ ...parts, query: [...parts.query, pair] })),
    fc.constant({ ...parts, query: parts.query.slice(1) }),
  ];
  if (inPath.length > 0) {
    const [name = ''] = inPath;
    ways.push(nasty.map((value) => ({ ...parts, path: { ...parts.path, [name]: value } })));
  }
  if (inQuery.length > 0) {
    ways.push(
      fc.tuple(fc.constantFrom(...inQuery), nasty).map((pair) => ({
        // Beside a good one, or in its place.
        ...{ ...parts, query: pair[1].length % 2 === 0 ? [pair] : [...parts.query, pair] },
      })),
    );
  }
  if (parts.body !== null && parts.type?.endsWith('json') === true) {
    const whole = JSON.parse(parts.body) as JsonObject;
    const names = [...Object.keys(whole), 'ids', 'all', 'reason', 'dryRun', 'force'];
    ways.push(
      fc
        .tuple(fc.constantFrom(...names), nastyJson)
        .map(([name, value]) => ({ ...parts, body: JSON.stringify({ ...whole, [name]: value }) })),
      fc.constantFrom(...names).map((name) => ({
        ...{ ...parts, body: JSON.stringify({ ...whole, [name]: undefined }) },
      })),
      nastyJson.map((value) => ({ ...parts, body: JSON.stringify(value) })),
    );
  }
  if (parts.body !== null) {
    const { body } = parts;
    ways.push(
      fc.nat({ max: body.length }).map((length) => ({ ...parts, body: body.slice(0, length) })),
      fc
        .constantFrom(null, '', '{', `${body}${body}`, `${body}\0`)
        .map((other) => ({ ...parts, body: other })),
      fc.constantFrom(300_000, 9_000).map((length) => ({ ...parts, body: body + ' '.repeat(length) })),
      fc
        .constantFrom('text/plain', 'application/xml', 'x', ';', 'application/json; charset=utf-16')
        .map((type) => ({
          ...{ ...parts, type },
        })),
    );
  }
  return fc.oneof(...ways);
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const HEADERS: readonly (readonly [string, string])[] = [
  ...(['gzip', 'gzip, br', 'zz'] as const).map((value) => ['content-encoding', value] as const),
  ...(['bytes=0-1', 'bytes=9-1', 'x'] as const).map((value) => ['range', value] as const),
  ...[
    ['accept', 'image/png'] as const,
    ['if-none-match', '*'] as const,
    ['x-http-method-override', 'DELETE'] as const,
  ],
  ...[
    ['cookie', 'msgx_session=x'] as const,
    ['cookie', '=;=;%zz=%'] as const,
    ['cookie', '__proto__=1'] as const,
  ],
  ...[
    ['x-forwarded-proto', 'https'] as const,
    ['origin', 'null'] as const,
    ['sec-fetch-site', 'cross-site'] as const,
  ],
  ...[['authorization', 'Bearer'] as const, ['authorization', 'Bearer a b c'] as const, ['te', 'x'] as const],
];

function requestOf(operation: Operation, kind: FuzzedRequest['kind'], parts: Parts): FuzzedRequest {
  const { template, name, method } = operation;
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
  const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encoded(parts.path[part] ?? ''));
  const query = parts.query.map(([key, value]) => `${encoded(key)}=${encoded(value)}`).join('&');
  return {
    ...{ operation: name, kind, method, body: parts.body },
    path: query === '' ? path : `${path}?${query}`,
    headers: parts.type === null ? {} : { 'content-type': parts.type },
  };
}

function hostile(request: FuzzedRequest): fc.Arbitrary<FuzzedRequest> {
  const raw = ['%', '%zz', '%c0%af', '%ff', '?&&=&=', '?[]=1&a[b][c]=1', '/', '//', '/../..', ';a=b', '#'];
  const spoil = fc.oneof(
    fc.constantFrom(...METHODS).map((method): Partial<FuzzedRequest> => ({ method })),
    fc.constantFrom(...raw).map((end): Partial<FuzzedRequest> => ({ path: `${request.path}${end}` })),
    fc.constantFrom(...HEADERS).map(([name, value]): Partial<FuzzedRequest> => ({
      ...{ headers: { ...request.headers, [name]: value } },
    })),
    fc.string({ unit: 'binary', maxLength: 200 }).map((body): Partial<FuzzedRequest> => ({ body })),
  );
  return fc
    .array(spoil, { minLength: 1, maxLength: 3 })
    .map((spoils) =>
      spoils.reduce<FuzzedRequest>((made, one) => ({ ...made, ...one, kind: 'hostile' }), request),
    );
}

/** A request to one of the operations. */
export function requests(operations: readonly Operation[]): fc.Arbitrary<FuzzedRequest> {
  return fc
    .tuple(
      fc.constantFrom(...operations),
      fc.constantFrom<FuzzedRequest['kind']>('valid', 'nearly', 'hostile'),
    )
    .chain(([operation, kind]) =>
      validParts(operation).chain((parts) => {
        if (kind === 'valid') return fc.constant(requestOf(operation, kind, parts));
        const near = spoiled(operation, parts).map((made) => requestOf(operation, 'nearly', made));
        return kind === 'nearly' ? near : near.chain(hostile);
      }),
    );
}
