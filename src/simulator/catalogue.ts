/** The world around the airport: airlines, airports, aircraft, codes and phrases, in English and Chinese. */

export interface Airline {
  /** IATA. */
  readonly code: string;
  readonly icao: string;
  readonly name: string;
  readonly chinese: string;
  /** Share of the traffic, relative. */
  readonly weight: number;
  readonly abroad: boolean;
}

export interface Airport {
  /** IATA. */
  readonly code: string;
  readonly icao: string;
  readonly city: string;
  readonly chinese: string;
  /** Flying time from here, minutes. */
  readonly minutes: number;
  readonly abroad: boolean;
}

export interface AircraftType {
  /** IATA. */
  readonly code: string;
  readonly icao: string;
  readonly name: string;
  readonly seats: number;
  readonly wide: boolean;
}

/** A code with its names. */
export interface Named {
  readonly code: string;
  readonly name: string;
  readonly chinese: string;
}

export const AIRLINES: readonly Airline[] = (
  [
    ['CA', 'CCA', 'Air China', '中国国际航空', 9],
    ['MU', 'CES', 'China Eastern Airlines', '中国东方航空', 9],
    ['CZ', 'CSN', 'China Southern Airlines', '中国南方航空', 9],
    ['HU', 'CHH', 'Hainan Airlines', '海南航空', 5],
    ['3U', 'CSC', 'Sichuan Airlines', '四川航空', 5],
    ['ZH', 'CSZ', 'Shenzhen Airlines', '深圳航空', 5],
    ['MF', 'CXA', 'XiamenAir', '厦门航空', 6],
    ['SC', 'CDG', 'Shandong Airlines', '山东航空', 4],
    ['FM', 'CSH', 'Shanghai Airlines', '上海航空', 3],
    ['HO', 'DKH', 'Juneyao Air', '吉祥航空', 3],
    ['9C', 'CQH', 'Spring Airlines', '春秋航空', 3],
    ['GJ', 'CDC', 'Loong Air', '长龙航空', 6],
    ['JD', 'CBJ', 'Beijing Capital Airlines', '首都航空', 4],
    ['8L', 'LKE', 'Lucky Air', '祥鹏航空', 2],
    ['PN', 'CHB', 'West Air', '西部航空', 2],
    ['CX', 'CPA', 'Cathay Pacific', '国泰航空', 1],
    ['NX', 'AMU', 'Air Macau', '澳门航空', 1],
    ['KE', 'KAL', 'Korean Air', '大韩航空', 1],
    ['NH', 'ANA', 'All Nippon Airways', '全日空', 1],
    ['SQ', 'SIA', 'Singapore Airlines', '新加坡航空', 1],
    ['TG', 'THA', 'Thai Airways', '泰国国际航空', 1],
    ['QR', 'QTR', 'Qatar Airways', '卡塔尔航空', 1],
    ['KL', 'KLM', 'KLM Royal Dutch Airlines', '荷兰皇家航空', 1],
  ] as const
).map(([code, icao, name, chinese, weight], index) => ({
  code,
  icao,
  name,
  chinese,
  weight,
  abroad: index >= 15,
}));

export const AIRPORTS: readonly Airport[] = (
  [
    ['PEK', 'ZBAA', 'Beijing', '北京首都', 125],
    ['PKX', 'ZBAD', 'Beijing Daxing', '北京大兴', 120],
    ['CAN', 'ZGGG', 'Guangzhou', '广州白云', 130],
    ['SZX', 'ZGSZ', 'Shenzhen', '深圳宝安', 125],
    ['CTU', 'ZUUU', 'Chengdu Shuangliu', '成都双流', 175],
    ['TFU', 'ZUTF', 'Chengdu Tianfu', '成都天府', 175],
    ['CKG', 'ZUCK', 'Chongqing', '重庆江北', 150],
    ['XIY', 'ZLXY', "Xi'an", '西安咸阳', 135],
    ['KMG', 'ZPPP', 'Kunming', '昆明长水', 185],
    ['HGH', 'ZSHC', 'Hangzhou', '杭州萧山', 90],
    ['NKG', 'ZSNJ', 'Nanjing', '南京禄口', 70],
    ['XMN', 'ZSAM', 'Xiamen', '厦门高崎', 85],
    ['FOC', 'ZSFZ', 'Fuzhou', '福州长乐', 75],
    ['TAO', 'ZSQD', 'Qingdao', '青岛胶东', 95],
    ['DLC', 'ZYTL', 'Dalian', '大连周水子', 115],
    ['SHE', 'ZYTX', 'Shenyang', '沈阳桃仙', 150],
    ['HRB', 'ZYHB', 'Harbin', '哈尔滨太平', 175],
    ['CGQ', 'ZYCC', 'Changchun', '长春龙嘉', 160],
    ['CSX', 'ZGHA', 'Changsha', '长沙黄花', 90],
    ['WUH', 'ZHHH', 'Wuhan', '武汉天河', 85],
    ['CGO', 'ZHCC', 'Zhengzhou', '郑州新郑', 100],
    ['KWE', 'ZUGY', 'Guiyang', '贵阳龙洞堡', 145],
    ['NNG', 'ZGNN', 'Nanning', '南宁吴圩', 150],
    ['HAK', 'ZJHK', 'Haikou', '海口美兰', 165],
    ['SYX', 'ZJSY', 'Sanya', '三亚凤凰', 185],
    ['URC', 'ZWWW', 'Urumqi', '乌鲁木齐地窝堡', 310],
    ['LHW', 'ZLLL', 'Lanzhou', '兰州中川', 165],
    ['INC', 'ZLIC', 'Yinchuan', '银川河东', 150],
    ['TYN', 'ZBYN', 'Taiyuan', '太原武宿', 115],
    ['LXA', 'ZULS', 'Lhasa', '拉萨贡嘎', 320],
    ['HKG', 'VHHH', 'Hong Kong', '香港', 140],
    ['MFM', 'VMMC', 'Macau', '澳门', 140],
    ['ICN', 'RKSI', 'Seoul', '首尔仁川', 120],
    ['KIX', 'RJBB', 'Osaka', '大阪关西', 140],
    ['NRT', 'RJAA', 'Tokyo', '东京成田', 180],
    ['SIN', 'WSSS', 'Singapore', '新加坡樟宜', 310],
    ['BKK', 'VTBS', 'Bangkok', '曼谷素万那普', 250],
    ['KUL', 'WMKK', 'Kuala Lumpur', '吉隆坡', 300],
    ['DOH', 'OTHH', 'Doha', '多哈', 540],
    ['AMS', 'EHAM', 'Amsterdam', '阿姆斯特丹', 690],
  ] as const
).map(([code, icao, city, chinese, minutes], index) => ({
  code,
  icao,
  city,
  chinese,
  minutes,
  abroad: index >= 30,
}));

export const AIRCRAFT: readonly AircraftType[] = [
  { code: '320', icao: 'A320', name: 'Airbus A320', seats: 180, wide: false },
  { code: '32N', icao: 'A20N', name: 'Airbus A320neo', seats: 186, wide: false },
  { code: '321', icao: 'A321', name: 'Airbus A321', seats: 200, wide: false },
  { code: '319', icao: 'A319', name: 'Airbus A319', seats: 132, wide: false },
  { code: '738', icao: 'B738', name: 'Boeing 737-800', seats: 176, wide: false },
  { code: '7M8', icao: 'B38M', name: 'Boeing 737 MAX 8', seats: 178, wide: false },
  { code: '919', icao: 'C919', name: 'COMAC C919', seats: 164, wide: false },
  { code: '909', icao: 'AJ27', name: 'COMAC C909', seats: 90, wide: false },
  { code: '333', icao: 'A333', name: 'Airbus A330-300', seats: 301, wide: true },
  { code: '359', icao: 'A359', name: 'Airbus A350-900', seats: 312, wide: true },
  { code: '789', icao: 'B789', name: 'Boeing 787-9', seats: 293, wide: true },
];

export const DELAY_CODES: readonly Named[] = (
  [
    ['11', 'Late check-in', '值机晚到'],
    ['15', 'Boarding discrepancies', '登机异常，等待旅客'],
    ['18', 'Baggage processing', '行李处理'],
    ['32', 'Loading and unloading', '装卸延误'],
    ['35', 'Aircraft cleaning', '客舱清洁'],
    ['36', 'Fuelling', '加油'],
    ['37', 'Catering', '配餐'],
    ['41', 'Aircraft defects', '机械故障'],
    ['43', 'Non-scheduled maintenance', '非计划维修'],
    ['46', 'Aircraft change', '更换飞机'],
    ['63', 'Late crew boarding', '机组晚到'],
    ['71', 'Departure station weather', '本场天气'],
    ['72', 'Destination station weather', '目的地天气'],
    ['75', 'De-icing of aircraft', '飞机除冰'],
    ['81', 'ATFM restriction en route', '流量控制'],
    ['83', 'ATFM restriction at destination', '目的地机场流控'],
    ['85', 'Mandatory security', '安全检查'],
    ['87', 'Airport facilities', '机场设施保障'],
    ['89', 'Restrictions at departure airport', '本场管制'],
    ['93', 'Aircraft rotation, late arrival', '前序航班晚到'],
    ['97', 'Industrial action', '其他原因'],
  ] as const
).map(([code, name, chinese]) => ({ code, name, chinese }));

export const STATUSES: readonly Named[] = (
  [
    ['SCH', 'Scheduled', '计划'],
    ['CKI', 'Check-in open', '正在值机'],
    ['BOR', 'Boarding', '正在登机'],
    ['LBD', 'Last call', '催促登机'],
    ['POK', 'Gate closed', '登机结束'],
    ['DEP', 'Departed', '已起飞'],
    ['DEL', 'Delayed', '延误'],
    ['CNL', 'Cancelled', '取消'],
    ['EST', 'Expected', '预计'],
    ['LND', 'Landed', '已到达'],
    ['BAG', 'Baggage on belt', '行李已上转盘'],
    ['DIV', 'Diverted', '备降'],
    ['RTN', 'Returned', '返航'],
  ] as const
).map(([code, name, chinese]) => ({ code, name, chinese }));

export const SERVICES: readonly Named[] = (
  [
    ['CLN', 'Cabin cleaning', '客舱清洁'],
    ['WAT', 'Potable water', '清水车'],
    ['LAV', 'Lavatory service', '污水车'],
    ['GPU', 'Ground power', '地面电源'],
    ['STR', 'Passenger stairs', '客梯车'],
    ['BUS', 'Apron bus', '摆渡车'],
    ['DEI', 'De-icing', '除冰'],
    ['WCH', 'Wheelchair', '轮椅服务'],
  ] as const
).map(([code, name, chinese]) => ({ code, name, chinese }));

export const ABNORMALITIES: readonly Named[] = (
  [
    ['A01', 'Equipment late', '设备晚到'],
    ['A02', 'Equipment broken', '设备故障'],
    ['A03', 'Staff shortage', '人员不足'],
    ['A04', 'Lightning, apron closed', '雷电，停止机坪作业'],
  ] as const
).map(([code, name, chinese]) => ({ code, name, chinese }));

export const SERVICE_TYPES: readonly Named[] = (
  [
    ['W/Z', 'Scheduled passenger', '正班'],
    ['C/B', 'Charter', '包机'],
    ['H/Y', 'Cargo', '货运'],
    ['L/W', 'Extra flight', '加班'],
  ] as const
).map(([code, name, chinese]) => ({ code, name, chinese }));

export const AGENTS: readonly Named[] = [
  { code: 'AGS', name: 'Airport Ground Services', chinese: '机场地服' },
  { code: 'CAGS', name: 'Air China Ground Services', chinese: '国航地服' },
  { code: 'MUGS', name: 'China Eastern Ground Services', chinese: '东航地服' },
  { code: 'AMECO', name: 'Aircraft Maintenance', chinese: '飞机维修工程' },
];

export const DELAY_REMARKS: readonly string[] = [
  '流量控制，预计延误',
  '前序航班晚到，请旅客耐心等待',
  '受雷雨天气影响，起飞时间待定',
  '本场大雾，能见度低于标准',
  '等待机组',
  '航路军事活动',
  'Slot revised by ATFM & network manager',
  'late inbound',
];

export const REMARKS: readonly string[] = [
  '有轮椅旅客 2 名',
  '靠桥，注意客舱清洁时间',
  '无陪儿童 1 名，到达口交接',
  '公务机组换乘',
  '更换机型，注意座位 & 行李',
  '团队旅客 46 人，集中值机',
  'Crew change on arrival',
  'Tow to remote stand after unloading',
  'VIP 车辆进机坪已批准',
  '航班保障正常',
];

export const DIVERSION_REASONS: readonly string[] = [
  '雷暴',
  '本场跑道关闭',
  '能见度低',
  'thunderstorm',
  '旅客急病',
];
export const RETURN_REASONS: readonly string[] = ['机械故障', '旅客急病', 'technical', '目的地天气原因'];
export const GO_AROUND_REASONS: readonly string[] = [
  '跑道有外来物',
  '侧风超标',
  'unstable approach',
  '风切变',
];
