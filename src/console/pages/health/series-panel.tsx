/** Throughput, latency and backlog of the last hour or day, from msgx's own database. */
import { useCallback, useMemo, type ReactNode } from 'react';
import { seriesOf, spanIn } from '../../api/operate.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { chartsOf } from '../../model/chart.ts';
import { Chart } from '../../ui/chart.tsx';
import { Freshness } from '../../ui/freshness.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useReading } from '../../ui/reading.ts';
import { setQuery, useRoute } from '../../ui/router.ts';

const SPANS = ['hour', 'day'] as const;
const EVERY_MS = 10_000;

export function SeriesPanel(): ReactNode {
  const { t } = useSpeech();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const chosen = spanIn(useRoute().query);
  const reading = useReading(
    useCallback((signal: AbortSignal) => seriesOf(chosen, signal), [chosen]),
    EVERY_MS,
  );
  const charts = useMemo(() => (reading.data === null ? null : chartsOf(reading.data)), [reading.data]);
  const { number, act } = t;
  const drawn = useMemo(
    () =>
      charts === null
        ? []
        : [
            {
              title: act.throughput,
              whole: true,
              lines: [
                { name: act.enqueued, values: charts.throughput.enqueued },
                { name: act.finished, values: charts.throughput.finished },
                { name: act.sentEvents, values: charts.throughput.sent },
              ],
              format: (value: number) => number(Math.round(value * 10) / 10),
            },
            {
              title: act.latency,
              lines: [
                { name: act.processP50, values: charts.latency.processP50 },
                { name: act.processP99, values: charts.latency.processP99 },
                { name: act.deliverP99, values: charts.latency.deliverP99 },
              ],
              format: (value: number) => number(Number(value.toPrecision(2))),
            },
            {
              title: act.backlog,
              whole: true,
              lines: [{ name: act.backlogLine, values: charts.backlog }],
              format: (value: number) => number(Math.round(value * 10) / 10),
            },
          ],
    [charts, act, number],
  );
  return (
    <Panel
      title={chosen === 'day' ? act.series : act.seriesHour}
      className="series-panel"
      extra={<Freshness of={reading} />}
    >
      <div className="list-tools" role="group" aria-label={act.spanChoice}>
        {SPANS.map((span) => (
          <button
            key={span}
            type="button"
            className="plain"
            aria-pressed={span === chosen}
            onClick={() => setQuery({ span: span === 'hour' ? '' : span })}
          >
            {span === 'day' ? act.series : act.seriesHour}
          </button>
        ))}
      </div>
      <div className="charts">
        {charts !== null &&
          drawn.map((chart) => <Chart key={chart.title} {...chart} at={charts.at} timeZone={zone} />)}
      </div>
    </Panel>
  );
}
