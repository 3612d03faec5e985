import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Has the browser fetch the page's code together with the small module that will import it (early.ts). */
const preloadPage: Plugin = {
  name: 'msgx:preload-page',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) => {
      const page = Object.values(bundle).find(
        (part) => part.type === 'chunk' && part.facadeModuleId?.endsWith('/main.tsx') === true,
      );
      if (page === undefined) throw new Error('the build has no chunk of main.tsx');
      return [
        {
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${page.fileName}` },
          injectTo: 'head',
        },
      ];
    },
  },
};

// The console is served by msgx itself and must work offline: everything it needs is in dist/console, and
// nothing is inlined, so that a strict content security policy can hold.
export default defineConfig(({ command }) => {
  // Where NODE_ENV says otherwise, as under a test runner, React's development build would be served: half as fast.
  if (command === 'build') process.env['NODE_ENV'] = 'production';
  return {
    root: fileURLToPath(new URL('.', import.meta.url)),
    base: './',
    plugins: [react(), preloadPage],
    build: {
      outDir: fileURLToPath(new URL('../../dist/console', import.meta.url)),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      // One style sheet, named by the document: the page's code must not wait for one of its own.
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      target: 'es2022',
    },
    server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
  };
});
