import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compileAhead } from './compileAhead.ts';
import { compress } from './compress.ts';

// The service that `npm run dev` sends requests to; `make run` starts one there.
const service = process.env['SERVICE'] ?? 'http://127.0.0.1:8000';

export default defineConfig(({ command }) => ({
  // The service writes the addresses in index.html; the other files find each other.
  base: command === 'build' ? './' : '/',
  plugins: [
    react(),
    compileAhead(),
    compress(new URL('./dist/workbench', import.meta.url).pathname),
  ],
  resolve: {
    alias: {
      '@examples': new URL('../examples', import.meta.url).pathname,
      '@': new URL('./src', import.meta.url).pathname,
    },
  },
  build: {
    target: 'es2023',
    // Browsers that have light-dark(): its replacement needs a color scheme in the same style sheet.
    cssTarget: ['chrome124', 'firefox121', 'safari17.5'],
    assetsDir: 'workbench',
    manifest: true,
    // Which packages are in the files, with their licences.
    license: { fileName: 'workbench/licences.json' },
    sourcemap: false,
    // Inlined assets would need `data:` in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Many small files take longer to load than a few.
          groups: [{ name: 'shared', test: /node_modules|src\/kit/, minShareCount: 18 }],
        },
      },
    },
  },
  server: {
    // The examples are outside of this folder.
    fs: { allow: ['..'] },
    proxy: { '/api': service, '/docs': service, '/openapi.json': service },
  },
}));
