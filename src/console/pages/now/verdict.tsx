/**
 * One sentence: what is stuck and why, the worst first. Screen readers hear it when it changes, not each
 * second: the countdown beside it is silent.
 */
import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock, span, untilMoment } from '../../model/time.ts';
import type { Finding } from '../../model/verdict.ts';
import { useFindings } from '../../ui/findings.ts';
import { Icon, SEVERITY_SIGN } from '../../ui/icons.tsx';
import { useClock, useStatus } from '../../ui/live-context.tsx';
import { FindingAction } from './finding-action.tsx';

export function Verdict(): ReactNode {
  const { t } = useSpeech();
  const { status } = useStatus();
  const now = useClock();

  const [worst, ...others] = useFindings();
  const sentence = worst === undefined ? t.connecting : t.finding(worst);

  return (
    <section className={`verdict is-${worst?.severity ?? 'info'}`} aria-label={t.verdict}>
      <Icon sign={SEVERITY_SIGN[worst?.severity ?? 'info']} />
      <div>
        <p className="sentence" data-testid="verdict">
          <span role="status" aria-live="polite">
            {sentence}
          </span>
          {worst !== undefined && <Aside finding={worst} now={now} zone={status?.timeZone ?? 'UTC'} />}
        </p>
        {worst !== undefined && <FindingAction finding={worst} />}
        {others.length > 0 && (
          <ul className="others" aria-label={t.also}>
            {others.map((finding, index) => (
              <li key={index} className={`is-${finding.severity}`}>
                <Icon sign={SEVERITY_SIGN[finding.severity]} />
                <span>
                  {t.finding(finding)}
                  <Aside finding={finding} now={now} zone={status?.timeZone ?? 'UTC'} />
                </span>
                <FindingAction finding={finding} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

interface AsideProps {
  readonly finding: Finding;
  readonly now: number;
  readonly zone: string;
}

/** Until when it lasts, or since when. */
function Aside({ finding, now, zone }: AsideProps): ReactNode {
  const { t } = useSpeech();
  const text = ((): string | null => {
    switch (finding.kind) {
      case 'flowing':
        return t.flowingDetail(finding.perMinute);
      case 'stream-lost':
        return t.since(airportClock(finding.since, zone));
      case 'outage':
      case 'stopped':
      case 'paused':
        return finding.station.since === null ? null : t.since(airportClock(finding.station.since, zone));
      case 'mailbox-silent':
        return t.since(airportClock(finding.readAt, zone));
      case 'outbox-old':
        return t.span(span(finding.seconds * 1_000));
      default:
        if (finding.until === null) return null;
        return untilMoment(finding.until, now) === 0
          ? t.due
          : t.until(finding.kind, t.span(span(untilMoment(finding.until, now))));
    }
  })();
  return text === null ? null : <span className="aside"> · {text}</span>;
}
