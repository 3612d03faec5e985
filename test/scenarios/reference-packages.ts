/** Packages of reference data of any size, in the dialect `sis`. */

/** Every reference type of the dialect. */
export const REFERENCE_TYPES = [
  'ABDG',
  'ABNR',
  'AIRC',
  'AIRL',
  'ARPT',
  'BLST',
  'CHLT',
  'CITY',
  'CLST',
  'COUL',
  'DLYL',
  'FLTL',
  'GLST',
  'HLTR',
  'ORGN',
  'PLST',
  'REGL',
  'SLST',
  'STTS',
  'TLST',
] as const;

export type ReferenceTypeName = (typeof REFERENCE_TYPES)[number];

/** Types whose code is not the first child of a record. */
const KEYS: Readonly<Partial<Record<ReferenceTypeName, string>>> = {
  AIRC: 'ITAT',
  AIRL: 'ITOP',
  ARPT: 'ITCD',
  CITY: 'ITCD',
};

export interface PackageOptions {
  /** META's SEQN. */
  readonly sequence: number;
  readonly rtype: ReferenceTypeName;
  readonly operation?: 'DNLD' | 'ADD' | 'UPD' | 'DEL';
  /** Codes of the records: the first one's number and how many. */
  readonly first?: number;
  readonly count: number;
  /** Stands in a record's description, by its number. */
  readonly word?: (number: number) => string;
  /** Records of code and description only. */
  readonly brief?: boolean;
}

/** A package; records of about 170 bytes, with Chinese text and, where the dialect says so, the code behind another. */
export function referencePackage(options: PackageOptions): string {
  const { sequence, rtype, operation = 'DNLD', first = 1, count, word = () => 'as it was' } = options;
  const key = KEYS[rtype];
  const records = Array.from({ length: count }, (_, index) => {
    const code = codeOf(rtype, first + index);
    const described = word(first + index);
    if (options.brief === true) return `<${rtype}><CODE>${code}</CODE><DESC>${described}</DESC></${rtype}>`;
    const named =
      key === undefined ? `<CODE>${code}</CODE>` : `<ICAO>X${code}</ICAO><${key}>${code}</${key}>`;
    const text = `<DESC>Record ${code} ${described}</DESC><CDES>${code} 号说明</CDES><ATML>T1</ATML>`;
    return `<${rtype}>${named}${text}</${rtype}>`;
  });
  const meta = `<META><SNDR>AODB</SNDR><SEQN>${String(sequence)}</SEQN><DTTM>20260314060000</DTTM><TYPE>${rtype}</TYPE><STYP>${operation}</STYP></META>`;
  return `<MSG>${meta}<RECS>${String(count)}</RECS>${records.join('')}</MSG>`;
}

/** The code of a record. */
export function codeOf(rtype: string, number: number): string {
  return `${rtype.slice(0, 2)}${String(number).padStart(6, '0')}`;
}
