/** One line on the pages beside Now while nothing gets through, so that nobody works on in good faith. */
import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import { hrefTo } from '../model/route.ts';
import { useFindings } from './findings.ts';
import { Icon, SEVERITY_SIGN } from './icons.tsx';

export function StopStrip({ home }: { readonly home: string }): ReactNode {
  const { t } = useSpeech();
  const [worst] = useFindings();
  const stopped = worst?.severity === 'stop' ? worst : null;
  return (
    <div role="status">
      {stopped !== null && (
        <a className="stop-strip is-stop" href={hrefTo(home)}>
          <Icon sign={SEVERITY_SIGN.stop} />
          {t.finding(stopped)}
        </a>
      )}
    </div>
  );
}
