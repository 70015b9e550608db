import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const MIN_BYTES = 1024;

/** Writes each file of the build compressed beside it, so that the service only sends it. */
export function compress(folder: string): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(folder)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(folder, name));
        if (content.length < MIN_BYTES) continue;
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
    },
  };
}
