import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: {
      '@examples': new URL('../examples', import.meta.url).pathname,
      '@': new URL('./src', import.meta.url).pathname,
    },
  },
  test: { include: ['src/**/*.test.{ts,tsx}'], environment: 'node', isolate: false },
});
