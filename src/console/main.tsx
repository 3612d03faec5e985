import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ActingProvider } from './actions/acting.tsx';
import { App } from './app.tsx';
import { LanguageProvider } from './i18n/language.tsx';
import { LiveProvider } from './ui/live-context.tsx';
import { SessionProvider } from './ui/session.tsx';
import './styles/theme.css';
import './styles/layout.css';
import './styles/shell.css';
import './styles/detail.css';
import './styles/operate.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <LanguageProvider>
      <SessionProvider>
        <LiveProvider>
          <ActingProvider>
            <App />
          </ActingProvider>
        </LiveProvider>
      </SessionProvider>
    </LanguageProvider>
  </StrictMode>,
);
