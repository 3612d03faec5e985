/** Which language the page speaks: the reader's choice, remembered; at first the browser's. */
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { Label } from '../../domain/fields.ts';
import { en, type Dictionary } from './en.ts';
import { zh } from './zh.ts';

export type Language = 'en' | 'zh';

interface Speech {
  readonly language: Language;
  readonly t: Dictionary;
  /** A label of the catalogue in the language of the page. */
  readonly label: (label: Label) => string;
  readonly switchLanguage: () => void;
}

const STORAGE_KEY = 'msgx.language';
const Context = createContext<Speech | null>(null);

function firstLanguage(): Language {
  const remembered = remember();
  if (remembered === 'en' || remembered === 'zh') return remembered;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** Storage may be forbidden by the browser's settings; the page works without. */
function remember(language?: Language): string | null {
  try {
    if (language === undefined) return localStorage.getItem(STORAGE_KEY);
    localStorage.setItem(STORAGE_KEY, language);
  } catch {
    return null;
  }
  return language;
}

export function LanguageProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(firstLanguage);
  const speech = useMemo<Speech>(
    () => ({
      language,
      t: language === 'zh' ? zh : en,
      label: (label) => label[language],
      switchLanguage: () => {
        const other: Language = language === 'en' ? 'zh' : 'en';
        remember(other);
        setLanguage(other);
      },
    }),
    [language],
  );
  useEffect(() => {
    document.documentElement.lang = speech.t.languageTag;
  }, [speech]);
  return <Context value={speech}>{children}</Context>;
}

/** The words to use. */
export function useSpeech(): Speech {
  const speech = use(Context);
  if (speech === null) throw new Error('useSpeech outside of LanguageProvider');
  return speech;
}
