/**
 * Checks a profile against its vocabulary and the catalogue of flight fields, and lists every fault at once
 * with the nearest name that would have been right.
 */
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { COLLECTIONS, SCALARS, type CollectionField, type ScalarField } from '../../domain/fields.ts';
import { profileSchema, type Profile } from './profile-schema.ts';
import { compileTimeFormat } from './time-format.ts';

/** A valid profile, or all that is wrong with it, one line each: `flight.scalars.ESTM: …`. */
export type ProfileOutcome =
  | { readonly ok: true; readonly profile: Profile }
  | { readonly ok: false; readonly faults: readonly string[] };

const SCALAR_PATHS: readonly string[] = SCALARS.map((field) => field.path);
const COLLECTION_FIELDS: readonly CollectionField[] = COLLECTIONS;
const SCALAR_FIELDS: readonly ScalarField[] = SCALARS;
/** Attributes of a stand that are registers of their own (decisions.md, "State"). */
const REGISTER_ATTRIBUTES = new Set(['push.time', 'push.indicator', 'tractorAt']);

/** What a keyed patch reads, by role. */
type PatchSources = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Checks what was read from a profile file. */
export function checkProfile(input: unknown): ProfileOutcome {
  const parsed = profileSchema.safeParse(input);
  if (!parsed.success) return { ok: false, faults: parsed.error.issues.flatMap(issueLines) };
  const faults = [
    ...timeFaults(parsed.data),
    ...fieldFaults(parsed.data.flight),
    ...listFaults(parsed.data.flight),
    ...elementFaults(parsed.data),
    ...kindFaults(parsed.data),
    ...nameFaults(parsed.data),
  ];
  return faults.length === 0 ? { ok: true, profile: parsed.data } : { ok: false, faults };
}

function issueLines(issue: z.core.$ZodIssue): readonly string[] {
  const at = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return [`${at === '' ? 'profile' : at}: ${issue.message}`];
  const known = keysAt(issue.path);
  return issue.keys.map((key) => `${at === '' ? key : `${at}.${key}`}: unknown key${nearest(key, known)}`);
}

/** The keys the vocabulary has at a path; none where any name may stand. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.core.$ZodType | undefined = profileSchema;
  for (const key of path) {
    if (schema instanceof z.ZodObject) schema = schema.shape[String(key)] as z.core.$ZodType | undefined;
    else if (schema instanceof z.ZodRecord) schema = schema.valueType;
    else return [];
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Every format must compile, and no two of the accepted ones may fit the same text. */
function timeFaults(profile: Profile): readonly string[] {
  const faults: string[] = [];
  const shapes = new Map<string, string>();
  for (const [index, pattern] of profile.times.formats.entries()) {
    const at = `times.formats.${index}`;
    const format = compileTimeFormat(pattern);
    if (typeof format === 'string') {
      faults.push(`${at}: ${format}`);
      continue;
    }
    const same = shapes.get(format.shape);
    if (same !== undefined) faults.push(`${at}: ${pattern} cannot be told from ${same}`);
    shapes.set(format.shape, pattern);
  }
  const printed = {
    'outbound.header-time': profile.outbound['header-time'],
    'outbound.schedule-request.time': profile.outbound['schedule-request'].time,
  };
  for (const [at, pattern] of Object.entries(printed)) {
    const format = compileTimeFormat(pattern);
    if (typeof format === 'string') faults.push(`${at}: ${format}`);
  }
  return faults;
}

/** Every scalar named must be in the catalogue, and be named once. */
function fieldFaults(flight: Profile['flight']): readonly string[] {
  const faults: string[] = [];
  const namedBy = new Map<string, string>();
  const check = (at: string, field: string): void => {
    if (!SCALAR_PATHS.includes(field)) {
      faults.push(`${at}: no field '${field}'${nearest(field, SCALAR_PATHS)}`);
      return;
    }
    const earlier = namedBy.get(field);
    if (earlier !== undefined) faults.push(`${at}: field '${field}' is already written by ${earlier}`);
    else namedBy.set(field, at);
  };
  for (const [element, field] of Object.entries(flight.scalars)) check(`flight.scalars.${element}`, field);
  for (const [element, parts] of Object.entries(flight.attributed)) {
    for (const field of Object.keys(parts)) check(`flight.attributed.${element}`, field);
    faults.push(...doubledSources(`flight.attributed.${element}`, Object.values(parts)));
  }
  for (const [element, spec] of Object.entries(flight.discriminated)) {
    const at = `flight.discriminated.${element}`;
    const fields = Object.values(spec.fields);
    for (const field of fields) check(at, field);
    const types = new Set(
      SCALAR_FIELDS.filter((field) => fields.includes(field.path)).map((field) => field.type),
    );
    if (types.size > 1) faults.push(`${at}.fields: all fields must be of one type`);
    if (fields.length === 0) faults.push(`${at}.fields: no field`);
    faults.push(...doubledSources(at, [spec.by, spec.value]));
  }
  return faults;
}

/** Every collection and attribute named must be in the catalogue. */
function listFaults(flight: Profile['flight']): readonly string[] {
  const faults: string[] = [];
  const names = COLLECTION_FIELDS.filter((field) => field.name !== 'delays').map((field) => field.name);
  for (const [element, spec] of Object.entries(flight.lists)) {
    const at = `flight.lists.${element}`;
    const collection = COLLECTION_FIELDS.find((field) => field.name === spec.collection);
    if (collection === undefined || collection.name === 'delays') {
      faults.push(
        `${at}.collection: no collection '${spec.collection}' that is replaced${nearest(spec.collection, names)}`,
      );
      continue;
    }
    const known = collection.attributes.map((attribute) => attribute.path);
    const allowed =
      collection.name === 'stands' ? known.filter((path) => !REGISTER_ATTRIBUTES.has(path)) : known;
    for (const path of Object.keys(spec.attributes)) {
      if (allowed.includes(path)) continue;
      faults.push(
        known.includes(path)
          ? `${at}.attributes.${path}: kept per stand, see flight.push and flight.tractor`
          : `${at}.attributes.${path}: no attribute of ${collection.name}${nearest(path, allowed)}`,
      );
    }
    faults.push(...doubledSources(`${at}.attributes`, Object.values(spec.attributes)));
    const other = spec.unless === undefined ? undefined : flight.lists[spec.unless];
    if (spec.unless !== undefined && (spec.unless === element || other?.collection !== spec.collection)) {
      faults.push(`${at}.unless: '${spec.unless}' is no other element of ${spec.collection}`);
    }
  }
  const firstOf = new Map<string, string>();
  for (const [element, spec] of Object.entries(flight.lists)) {
    if (spec.unless !== undefined) continue;
    const earlier = firstOf.get(spec.collection);
    if (earlier === undefined) firstOf.set(spec.collection, element);
    else
      faults.push(
        `flight.lists.${element}: ${spec.collection} is already written by ${earlier}; say 'unless'`,
      );
  }
  const patches: Readonly<Record<string, Readonly<Record<string, PatchSources>>>> = {
    delays: flight.delays,
    push: flight.push,
    tractor: flight.tractor,
  };
  for (const [section, specs] of Object.entries(patches)) {
    for (const [element, spec] of Object.entries(specs)) {
      const sources = Object.values(spec).flatMap((source) => source ?? []);
      faults.push(...doubledSources(`flight.${section}.${element}`, sources));
    }
  }
  return faults;
}

/** An element has one meaning in a record, and kinds may only require elements that have one. */
function elementFaults(profile: Profile): readonly string[] {
  const { flight, kinds } = profile;
  const faults: string[] = [];
  const known = new Map<string, string>();
  const sections: Readonly<Record<string, readonly string[]>> = {
    key: [flight.key],
    markers: flight.markers,
    scalars: Object.keys(flight.scalars),
    attributed: Object.keys(flight.attributed),
    discriminated: Object.keys(flight.discriminated),
    lists: Object.keys(flight.lists),
    delays: Object.keys(flight.delays),
    push: Object.keys(flight.push),
    tractor: Object.keys(flight.tractor),
  };
  for (const [section, elements] of Object.entries(sections)) {
    for (const element of elements) {
      const earlier = known.get(element);
      if (earlier !== undefined)
        faults.push(`flight.${section}.${element}: already has a meaning in flight.${earlier}`);
      else known.set(element, section);
    }
  }
  const require = (at: string, element: string, from: readonly string[]): void => {
    if (!from.includes(element))
      faults.push(`${at}: no element '${element}' in flight${nearest(element, from)}`);
  };
  const single = [flight.key, ...Object.keys(flight.scalars)];
  for (const element of kinds.schedule.required) require('kinds.schedule.required', element, single);
  for (const [subtype, elements] of Object.entries(kinds.operation.subtypes)) {
    for (const element of elements)
      require(`kinds.operation.subtypes.${subtype}`, element, [...known.keys()]);
  }
  return faults;
}

/** One TYPE, one kind. */
function kindFaults({ kinds }: Profile): readonly string[] {
  const faults: string[] = [];
  const types = new Map<string, string>();
  const claim = (type: string, at: string): void => {
    const earlier = types.get(type);
    if (earlier !== undefined) faults.push(`${at}: TYPE ${type} is already ${earlier}`);
    else types.set(type, at);
  };
  claim(kinds.schedule.type, 'kinds.schedule.type');
  claim(kinds.operation.type, 'kinds.operation.type');
  claim(kinds.deletion.type, 'kinds.deletion.type');
  for (const type of kinds.reference.types) claim(type, 'kinds.reference.types');
  for (const subtype of kinds.deletion.subtypes) {
    if (Object.hasOwn(kinds.operation.subtypes, subtype)) {
      faults.push(`kinds.deletion.subtypes: ${subtype} is also an operational update`);
    }
  }
  return faults;
}

/** Codes stand in fields of the catalogue, and a type they are of has to say where its names are. */
function nameFaults({ names }: Profile): readonly string[] {
  const paths = [
    ...SCALAR_PATHS,
    ...COLLECTION_FIELDS.flatMap(({ name, attributes }) => attributes.map(({ path }) => `${name}.${path}`)),
  ];
  return Object.entries(names.fields).flatMap(([path, rtype]) => [
    ...(paths.includes(path) ? [] : [`names.fields.${path}: no field of a flight${nearest(path, paths)}`]),
    ...(Object.hasOwn(names.elements, rtype) ? [] : [`names.fields.${path}: names.elements lacks ${rtype}`]),
  ]);
}

function doubledSources(at: string, sources: readonly string[]): readonly string[] {
  const doubled = sources.filter((source, index) => sources.indexOf(source) !== index);
  return doubled.map((source) => `${at}: '${source}' is read twice`);
}

/** `; did you mean 'GATE'?` where a known name is near enough to be a slip of the pen. */
function nearest(name: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const candidate = closest(name, known);
  return distance(name, candidate) <= Math.max(2, Math.ceil(name.length / 3))
    ? `; did you mean '${candidate}'?`
    : '';
}
