import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { LanguageProvider } from './i18n/language.tsx';
import { LiveProvider } from './ui/live-context.tsx';
import './styles/theme.css';
import './styles/layout.css';
import './styles/stations.css';
import './styles/line.css';
import './styles/cards.css';
import './styles/flights.css';
import './styles/flights-narrow.css';
import './styles/detail.css';
import './styles/reference.css';
import './styles/requests.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <LanguageProvider>
      <LiveProvider>
        <App />
      </LiveProvider>
    </LanguageProvider>
  </StrictMode>,
);
