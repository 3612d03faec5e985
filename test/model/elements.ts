/** What each element of a flight says (dialect.md, "Schedule payload"), restated for the model. */

/** text as it is, time of the airport, number; duration is HHmm told in minutes. */
export type ValueType = 'text' | 'time' | 'number' | 'duration';

export interface Source {
  /** Where the value stands: `@NAME` an attribute, `#text` the element's own text, else a child element. */
  readonly from: string;
  /** Where it goes in the published JSON, dots for nesting. */
  readonly to: string;
  readonly type: ValueType;
}

/** `FLNO flightNumber` or `SODT scheduledTime time`. */
function source(line: string): Source {
  const [from = '', to = '', type = 'text'] = line.split(' ');
  return { from, to, type: type as ValueType };
}

/** Elements that are one scalar each. */
export const SCALARS: readonly Source[] = [
  'FFID ffid',
  'ALCD airline',
  'ALSC airlineSub',
  'FLNO flightNumber',
  'MVIN movement',
  'SODT scheduledTime time',
  'ESTM estimatedTime time',
  'ACTM actualTime time',
  'FLTY flightType',
  'FLIN flightIndicator',
  'ACFT aircraftType',
  'RENO registration',
  'TAOP linked.airline',
  'TAFL linked.flightNumber',
  'TAID linked.flid',
  'CSOP master.airline',
  'CSFT master.flightNumber',
  'CSID master.flid',
  'TRML terminal',
  'MAXP maxPassengers number',
  'STND currentStand',
  'PHAG agents.passenger',
  'FHAG agents.field',
  'MHAG agents.maintenance',
  'VIPP vip.count number',
  'VIPR vip.rank number',
  'BAGN baggage.count number',
  'BAGW baggage.weightKg number',
  'PAXN passengers number',
  'CNCL cancelledAt time',
  'REMC remark',
  'BOTM boardingOpen time',
  'LACL lastCall time',
  'FINT finalCall time',
  'APPT releasedAt time',
  'EGSR engineStartRequest time',
  'EGST engineStart time',
  'EXSC externalStatus.code',
  'EXSR externalStatus.remark',
  'FTSS status',
  'PEDT previousStation.estimatedOff time',
  'PADT previousStation.actualOff time',
  'NEAT nextStation.estimatedOn time',
  'NAAT nextStation.actualOn time',
  'COBT cobt time',
  'TOBT tobt time',
  'EOBT eobt time',
  'CTOT ctot time',
  'IEST internalEstimate time',
  'RUNW runway',
].map(source);

/** Elements that are several scalars at once. */
export const ATTRIBUTED: Readonly<Record<string, readonly Source[]>> = {
  FDIV: [
    '@DDES irregular.diversion.airport',
    '@DDIR irregular.diversion.direction',
    '#text irregular.diversion.reason',
  ].map(source),
  FRET: ['@REID irregular.return.kind', '#text irregular.return.reason'].map(source),
  FLAB: ['@ARES irregular.abortedLanding.kind', '#text irregular.abortedLanding.reason'].map(source),
};

/** PORT: POID says which of the two its POTM is. */
export const PORTS: Readonly<Record<string, string>> = { O: 'port.openedAt', C: 'port.closedAt' };

/** Elements that together replace a whole collection. */
export const LISTS: Readonly<Record<string, { readonly name: string; readonly sources: readonly Source[] }>> =
  {
    PSDT: list('stands', '@PSNO seq number', 'PSST code', 'STST plannedFrom time', 'STET plannedTo time'),
    GTDT: list(
      'gates',
      '@GTNO seq number',
      'GATE code',
      'PGOT plannedFrom time',
      'PGCT plannedTo time',
      'GOTM actualFrom time',
      'GCTM actualTo time',
      'GTYP indicator',
    ),
    CKDT: list(
      'checkins',
      '@CKNO seq number',
      'CHKC code',
      'CCLS class',
      'PCOT plannedFrom time',
      'PCCT plannedTo time',
      'COTM actualFrom time',
      'CCTM actualTo time',
      'CTYP indicator',
    ),
    CLDT: list(
      'carousels',
      '@CLNO seq number',
      'BELT code',
      'BCLS class',
      'PCOT plannedFrom time',
      'PCCT plannedTo time',
      'FBAG firstBag time',
      'LBAG lastBag time',
      'BTYP indicator',
    ),
    CHDT: list(
      'chutes',
      '@CHNO seq number',
      'CHUT code',
      'CCLS class',
      'PCBT plannedFrom time',
      'PCET plannedTo time',
      'CBTM actualFrom time',
      'CETM actualTo time',
      'CTYP indicator',
    ),
    ABTM: list('airbridges', '@ASNO seq number', 'ABDG code', 'ABOP operation', 'AOTM time time'),
    CHOT: list('chocks', '@CSNO seq number', 'CHST stand', 'CHID indicator', 'CHTM time time'),
    SRVT: list(
      'services',
      'SRTC code',
      'SRQT quantity number',
      'SRST from time',
      'SRET to time',
      'SRPR provider',
      'SANR abnormal.reason',
      'SARR abnormal.remark',
    ),
    VIPF: list('vips', 'VPCD code', 'VFES entourage number'),
    ERUT: list('route', '@RTNO seq number', 'APCD airport', 'SCAT arrival time', 'SCDT departure time'),
    // Counts only where the record has no ERUT.
    ROUT: list('route', '@RTNO seq number', 'APCD airport', 'SCAT arrival time', 'SCDT departure time'),
  };

/** DELY: one entry of the collection by its code. */
export const DELAY: readonly Source[] = [
  '@CODE code',
  '@STRT start time',
  '@DURA minutes duration',
  '#text remark',
].map(source);

/** Subtypes whose element has another name than they. */
export const ELEMENTS_OF: Readonly<Record<string, readonly string[]>> = {
  EXSS: ['EXSC', 'EXSR'],
  HNAG: ['FHAG', 'PHAG', 'MHAG'],
};

/** Types that are skipped as ignored. */
export const IGNORED: readonly string[] = ['LDM', 'REGN', 'RSTA', 'EROR'];

/** Types of reference data, and the child that is the key where it is not the first. */
export const REFERENCE: readonly string[] =
  'ABDG ABNR AIRC AIRL ARPT BLST CHLT CITY CLST COUL DLYL FLTL GLST HLTR ORGN PLST REGL SLST STTS TLST'.split(
    ' ',
  );
export const REFERENCE_KEYS: Readonly<Record<string, string>> = {
  AIRC: 'ITAT',
  AIRL: 'ITOP',
  ARPT: 'ITCD',
  CITY: 'ITCD',
};

function list(name: string, ...lines: readonly string[]) {
  return { name, sources: lines.map(source) };
}
