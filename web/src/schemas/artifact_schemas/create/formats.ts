export const FORMATS = ['json_schema', 'label_studio', 'portable'] as const;
export type ImportFormat = (typeof FORMATS)[number];

/** Guesses the format of a file by how it begins; undefined if it could be anything. */
export function guessFormat(text: string): ImportFormat | undefined {
  const start = text.trimStart();
  if (start.startsWith('<')) return 'label_studio';
  if (!start.startsWith('{')) return undefined;
  if (/"format"\s*:\s*"labeling-schema"/.test(start)) return 'portable';
  const isJsonSchema = /"(\$schema|properties|\$defs|definitions)"\s*:/.test(start);
  return isJsonSchema ? 'json_schema' : /"fields"\s*:\s*\[/.test(start) ? 'portable' : undefined;
}
