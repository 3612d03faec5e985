/**
 * The catalogue of flight fields: the one place that says what a flight is. Types, merge, JSON Schema, the
 * profile check, the SQL views and the console's labels are derived from it. Adding a scalar field means a
 * line here and a line in the dialect profile, nothing else (decisions.md, "State").
 */

/**
 * text: carried as it is. time: ISO 8601 with the airport's offset, in seconds, e.g. 2026-03-14T08:20:00+08:00.
 * count: whole number. quantity: number, may have a fraction.
 */
export type FieldType = 'text' | 'time' | 'count' | 'quantity';

/** What people call a field, in the console and in the docs. */
export interface Label {
  readonly en: string;
  readonly zh: string;
}

/** One scalar of a flight. `path` is its place in the published JSON, dots for nesting. */
export interface ScalarField {
  readonly path: string;
  readonly type: FieldType;
  readonly label: Label;
  /** Closed set of values, where the dialect fixes one. */
  readonly values?: readonly string[];
}

/** One attribute of a collection entry. */
export interface Attribute {
  readonly path: string;
  readonly type: FieldType;
}

/**
 * A collection of a flight, replaced as a whole unless `merge` says otherwise.
 * order 'seq': ordered by the sequence number in attribute `seq`. 'given': in the order of the message.
 * 'code': keyed and ordered by attribute `code`.
 */
export interface CollectionField {
  readonly name: string;
  /** Name of the SQL view with one row per entry (contract, "Own PostgreSQL"). */
  readonly table: string;
  readonly order: 'seq' | 'given' | 'code';
  readonly label: Label;
  readonly attributes: readonly Attribute[];
}

const scalar = <P extends string>(path: P, type: FieldType, en: string, zh: string) =>
  ({ path, type, label: { en, zh } }) as const satisfies ScalarField;

/** Every scalar, in the order in which it is published. */
export const SCALARS = [
  scalar('ffid', 'text', 'Readable flight ID', '可读航班标识'),
  scalar('airline', 'text', 'Airline', '航空公司'),
  scalar('airlineSub', 'text', 'Airline subcompany', '子公司'),
  scalar('flightNumber', 'text', 'Flight number', '航班号'),
  { ...scalar('movement', 'text', 'Movement', '进离港'), values: ['A', 'D'] },
  scalar('scheduledTime', 'time', 'Scheduled time', '计划时间'),
  scalar('estimatedTime', 'time', 'Estimated time', '预计时间'),
  scalar('actualTime', 'time', 'Actual time', '实际时间'),
  scalar('flightType', 'text', 'Service type', '航班性质'),
  scalar('flightIndicator', 'text', 'Domestic, international or mixed', '航班属性'),
  scalar('aircraftType', 'text', 'Aircraft type', '机型'),
  scalar('registration', 'text', 'Registration', '机号'),
  scalar('linked.airline', 'text', 'Turnaround airline', '连班航空公司'),
  scalar('linked.flightNumber', 'text', 'Turnaround flight', '连班航班号'),
  scalar('linked.flid', 'text', 'Turnaround flight ID', '连班航班标识'),
  scalar('master.airline', 'text', 'Operating airline', '主航班航空公司'),
  scalar('master.flightNumber', 'text', 'Operating flight', '主航班号'),
  scalar('master.flid', 'text', 'Operating flight ID', '主航班标识'),
  scalar('terminal', 'text', 'Terminal', '航站楼'),
  scalar('maxPassengers', 'count', 'Seats', '最大旅客数'),
  scalar('currentStand', 'text', 'Current stand', '当前机位'),
  scalar('agents.passenger', 'text', 'Passenger agent', '旅客代理'),
  scalar('agents.field', 'text', 'Field agent', '场站代理'),
  scalar('agents.maintenance', 'text', 'Maintenance agent', '机务代理'),
  scalar('vip.count', 'count', 'VIPs', '要客人数'),
  scalar('vip.rank', 'count', 'VIP rank', '要客级别'),
  scalar('baggage.count', 'count', 'Bags', '行李件数'),
  scalar('baggage.weightKg', 'quantity', 'Baggage weight in kg', '行李重量（千克）'),
  scalar('passengers', 'count', 'Passengers', '旅客人数'),
  scalar('cancelledAt', 'time', 'Cancelled at', '取消时间'),
  scalar('remark', 'text', 'Remark', '备注'),
  scalar('boardingOpen', 'time', 'Boarding', '开始登机'),
  scalar('lastCall', 'time', 'Last call', '催促登机'),
  scalar('finalCall', 'time', 'Final call', '结束登机'),
  scalar('releasedAt', 'time', 'Released', '放行时间'),
  scalar('engineStartRequest', 'time', 'Engine start requested', '申请开车'),
  scalar('engineStart', 'time', 'Engine start', '开车时间'),
  scalar('externalStatus.code', 'text', 'External status', '外部状态'),
  scalar('externalStatus.remark', 'text', 'External status remark', '外部状态说明'),
  scalar('status', 'text', 'Status', '航班状态'),
  scalar('previousStation.estimatedOff', 'time', 'Estimated off at previous station', '前站预计起飞'),
  scalar('previousStation.actualOff', 'time', 'Actual off at previous station', '前站实际起飞'),
  scalar('nextStation.estimatedOn', 'time', 'Estimated on at next station', '下站预计到达'),
  scalar('nextStation.actualOn', 'time', 'Actual on at next station', '下站实际到达'),
  scalar('cobt', 'time', 'Calculated off-block time', '计算撤轮挡时间'),
  scalar('tobt', 'time', 'Target off-block time', '目标撤轮挡时间'),
  scalar('eobt', 'time', 'Estimated off-block time', '预计撤轮挡时间'),
  scalar('ctot', 'time', 'Calculated take-off time', '计算起飞时间'),
  scalar('internalEstimate', 'time', 'Internal estimate', '内部预计时间'),
  scalar('runway', 'text', 'Runway', '跑道'),
  scalar('port.openedAt', 'time', 'Cabin door opened', '开舱门时间'),
  scalar('port.closedAt', 'time', 'Cabin door closed', '关舱门时间'),
  scalar('irregular.diversion.airport', 'text', 'Diversion airport', '备降机场'),
  scalar('irregular.diversion.direction', 'text', 'Diversion direction', '备降方向'),
  scalar('irregular.diversion.reason', 'text', 'Diversion reason', '备降原因'),
  scalar('irregular.return.kind', 'text', 'Return kind', '返航类型'),
  scalar('irregular.return.reason', 'text', 'Return reason', '返航原因'),
  scalar('irregular.abortedLanding.kind', 'text', 'Aborted landing kind', '复飞类型'),
  scalar('irregular.abortedLanding.reason', 'text', 'Aborted landing reason', '复飞原因'),
] as const satisfies readonly ScalarField[];

const seq = { path: 'seq', type: 'count' } as const;
const text = <P extends string>(path: P) => ({ path, type: 'text' }) as const;
const time = <P extends string>(path: P) => ({ path, type: 'time' }) as const;
const count = <P extends string>(path: P) => ({ path, type: 'count' }) as const;

/** Every collection, in the order in which it is published. */
export const COLLECTIONS = [
  {
    name: 'stands',
    table: 'flight_stand',
    order: 'seq',
    label: { en: 'Stands', zh: '机位' },
    attributes: [
      seq,
      text('code'),
      time('plannedFrom'),
      time('plannedTo'),
      time('push.time'),
      text('push.indicator'),
      time('tractorAt'),
    ],
  },
  {
    name: 'gates',
    table: 'flight_gate',
    order: 'seq',
    label: { en: 'Gates', zh: '登机口' },
    attributes: [
      seq,
      text('code'),
      time('plannedFrom'),
      time('plannedTo'),
      time('actualFrom'),
      time('actualTo'),
      text('indicator'),
    ],
  },
  {
    name: 'checkins',
    table: 'flight_checkin',
    order: 'seq',
    label: { en: 'Check-in counters', zh: '值机柜台' },
    attributes: [
      seq,
      text('code'),
      text('class'),
      time('plannedFrom'),
      time('plannedTo'),
      time('actualFrom'),
      time('actualTo'),
      text('indicator'),
    ],
  },
  {
    name: 'carousels',
    table: 'flight_carousel',
    order: 'seq',
    label: { en: 'Carousels', zh: '行李转盘' },
    attributes: [
      seq,
      text('code'),
      text('class'),
      time('plannedFrom'),
      time('plannedTo'),
      time('firstBag'),
      time('lastBag'),
      text('indicator'),
    ],
  },
  {
    name: 'chutes',
    table: 'flight_chute',
    order: 'seq',
    label: { en: 'Chutes', zh: '行李滑槽' },
    attributes: [
      seq,
      text('code'),
      text('class'),
      time('plannedFrom'),
      time('plannedTo'),
      time('actualFrom'),
      time('actualTo'),
      text('indicator'),
    ],
  },
  {
    name: 'airbridges',
    table: 'flight_airbridge',
    order: 'seq',
    label: { en: 'Airbridges', zh: '登机桥' },
    attributes: [seq, text('code'), text('operation'), time('time')],
  },
  {
    name: 'chocks',
    table: 'flight_chock',
    order: 'seq',
    label: { en: 'Chocks', zh: '轮挡' },
    attributes: [seq, text('stand'), text('indicator'), time('time')],
  },
  {
    name: 'services',
    table: 'flight_service',
    order: 'given',
    label: { en: 'Services', zh: '特殊服务' },
    attributes: [
      text('code'),
      count('quantity'),
      time('from'),
      time('to'),
      text('provider'),
      text('abnormal.reason'),
      text('abnormal.remark'),
    ],
  },
  {
    name: 'delays',
    table: 'flight_delay',
    order: 'code',
    label: { en: 'Delays', zh: '延误' },
    attributes: [text('code'), time('start'), count('minutes'), text('remark')],
  },
  {
    name: 'vips',
    table: 'flight_vip',
    order: 'given',
    label: { en: 'VIPs', zh: '要客' },
    attributes: [text('code'), count('entourage')],
  },
  {
    name: 'route',
    table: 'flight_route_point',
    order: 'seq',
    label: { en: 'Route', zh: '航线' },
    attributes: [seq, text('airport'), time('arrival'), time('departure')],
  },
] as const satisfies readonly CollectionField[];

/** Path of a scalar, e.g. `externalStatus.code`. */
export type ScalarPath = (typeof SCALARS)[number]['path'];
/** Name of a collection, e.g. `gates`. */
export type CollectionName = (typeof COLLECTIONS)[number]['name'];
/** Collections that a message replaces as a whole; delays merge by code. */
export type ListName = Exclude<CollectionName, 'delays'>;
