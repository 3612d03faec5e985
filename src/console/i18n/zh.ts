/** The words of the console in Chinese. */
import type { Finding } from '../model/verdict.ts';
import type { Dictionary } from './en.ts';
import { zhOperate } from './zh-operate.ts';
import { zhFlightWords } from './zh-flight.ts';
import { zhMessageWords } from './zh-messages.ts';
import { zhWords } from './zh-words.ts';

const number = (value: number): string => value.toLocaleString('zh-CN');
const because = (reason: string | null): string => (reason === null ? '' : `：${reason}`);

const station: Dictionary['station'] = {
  inbox: '收件',
  pump: '处理',
  delivery: '投递',
  backfill: '回填',
  requests: '请求',
};

const stationState: Dictionary['stationState'] = {
  running: '运行',
  paused: '暂停',
  outage: '依赖中断',
  stopped: '停止',
};

const span: Dictionary['span'] = ({ days, hours, minutes, seconds }) => {
  if (days > 0) return `${String(days)} 天 ${String(hours)} 小时`;
  if (hours > 0) return `${String(hours)} 小时 ${String(minutes)} 分`;
  if (minutes > 0) return `${String(minutes)} 分 ${String(seconds)} 秒`;
  return `${String(seconds)} 秒`;
};

function finding(found: Finding): string {
  switch (found.kind) {
    case 'stream-lost':
      return '与 msgx 的连接中断：当前显示的是旧数据';
    case 'outage':
      return `${station[found.station.name]}无法连接其依赖系统${because(found.station.reason)}`;
    case 'stopped':
      return `${station[found.station.name]}已停止${because(found.station.reason)}`;
    case 'paused':
      return `${station[found.station.name]}已${found.station.by === null ? '' : `由 ${found.station.by} `}暂停${because(found.station.reason)}`;
    case 'head-failed': {
      const { head } = found;
      const name = [head.type, head.styp].filter((part) => part !== null).join('/');
      return `队头 ${head.msgId} ${name} 已失败 ${String(head.attempts)} 次${because(head.lastError)}`;
    }
    case 'head-waits':
      return `队头 ${found.head.msgId} 等待中${because(found.head.why)}`;
    case 'dead-schedules':
      return `${number(found.count)} 份日计划成为死信，需要人工处理：其航班缺失`;
    case 'dead-messages':
      return `${number(found.count)} 条死信需要人工处理`;
    case 'dead-events':
      return `${number(found.count)} 个 ${found.target} 事件投递失败`;
    case 'hole': {
      const { hole } = found;
      const ids = hole.from === hole.to ? hole.from : `${hole.from}–${hole.to}`;
      return `收件停在空洞 ${ids}${hole.held ? '：可能填补它的写入者仍在，保持等待' : ''}`;
    }
    case 'mailbox-silent':
      return '已有一段时间未读取信箱';
    case 'outbox-old':
      return `${number(found.pending)} 个 ${found.target} 事件等待发送`;
    case 'abandoned':
      return `${number(found.count)} 个回填已放弃：信箱中未显示为已处理`;
    case 'job-failing':
      return `维护作业 ${found.job} 失败${because(found.error)}`;
    case 'standby':
      return '备用：由另一实例处理';
    case 'flowing':
      return '一切畅通';
  }
}

export const zh: Dictionary = {
  ...zhWords,
  msg: zhMessageWords,
  session: {
    title: '登录',
    lead: '本控制台供持有 viewer 或 operator 角色令牌的人使用。',
    token: '令牌',
    enter: '登录',
    leave: '退出',
    role: { sender: '发送', viewer: '查看', operator: '操作' },
    notEnough: (role) => `角色 ${role} 无权使用控制台。`,
    needsOperator: (name, role) => `此操作需要 operator 角色。你以 ${name} 登录，角色为 ${role}。`,
  },
  flight: zhFlightWords,
  act: zhOperate,
  station,
  stationState,
  number,
  span,
  finding,
  until: (kind, left) => (kind === 'hole' ? `${left}后放行` : `${left}后重试`),
  since: (time) => `自 ${time}`,
  ago: (time) => `${time}前`,
  perMinute: (rate) => `${number(Math.round(rate))}/分`,
  flowingDetail: (rate) => `每分钟 ${number(Math.round(rate))} 条消息，无等待`,
  retryIn: (left) => `${left}后重试`,
  attempts: (done, of) => `第 ${String(done)} 次，共 ${String(of)} 次`,
  releasedIn: (left) => `${left}后放行`,
  ids: (count) => `${String(count)} 个 ID`,
  moreHoles: (count) => `另有 ${number(count)} 个空洞`,
  sparkline: (name, low, high) => `${name}，最近两分钟速率：每分钟 ${number(low)} 至 ${number(high)}`,
  flightsShown: (shown, all) =>
    shown === all ? `${number(all)} 个航班` : `${number(shown)} / ${number(all)} 个航班`,
  openFlight: (name) => `打开航班 ${name}`,
  version: (version) => `版本 ${String(version)}`,
  message: (msgId) => `消息 ${msgId}`,
  referenceCount: (type, active, inactive) =>
    `${type}（${number(active)}${inactive === 0 ? '' : `，失效 ${number(inactive)}`}）`,
  namedBy: (msgId) => `由消息 ${msgId} 提及`,
  untilMessage: (msgId, time) => `至消息 ${msgId}，${time} `,
  reports: (waiting, sent) => `EROR 回报：排队 ${number(waiting)}，已发送 ${number(sent)}`,
  openRequests: (open) => `未完成 ${number(open)}`,
  requestOf: (type, day) => (day === null ? type : `日计划 ${day}`),
  outbound: (outId, sequence) => `ID ${outId}，SEQN ${sequence}`,
  waitsUntil: (time) => `至 ${time}`,
  answeredBy: (msgId, matched) => (matched === 'exact' ? `消息 ${msgId}` : `消息 ${msgId}（未回显 SEQN）`),
  unanswered: (because) => (because === 'timeout' ? '超时未应答' : '已重新请求'),
  delayed: (minutes) => `晚 ${String(minutes)} 分`,
  divertedTo: (airport) => `备降 ${airport}`,
};
